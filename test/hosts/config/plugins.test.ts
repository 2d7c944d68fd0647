import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Home, makeHome } from './home.ts';

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

const loaded = async (env: Record<string, string> = {}) => (await home.load({ env })).config;

describe('the configuration of plugins', () => {
  it('runs no code of plugins and opens nothing unless the operator says so', async () => {
    expect(await loaded()).toMatchObject({ extension_host: { enabled: false, allow_unsandboxed: false }, plugins: {} });
    expect((await loaded()).extension_host).not.toHaveProperty('node');
    expect((await loaded({ ODEK_EXTENSION_HOST: '1' })).extension_host.enabled).toBe(true);
  });

  it('keeps settings of a plugin as they are, whatever their names and texts', async () => {
    const config = { greeting: `\${HOME}`, nested: { a: [1, true, null] } };
    await home.global({
      extension_host: { enabled: true, node: '/usr/bin/node', allow_unsandboxed: true },
      plugins: { 'acme.tools': { config }, hello: { config: {} }, 'a.config': { config: { b: 1 } } },
    });
    expect(await loaded()).toMatchObject({
      extension_host: { enabled: true, node: '/usr/bin/node', allow_unsandboxed: true },
      plugins: { 'acme.tools': { config }, hello: { config: {} }, 'a.config': { config: { b: 1 } } },
    });
  });

  it('is the operator’s alone: a project can neither trust nor switch on nor set anything', async () => {
    await home.project({
      extension_host: { enabled: true, node: '/tmp/evil', allow_unsandboxed: true },
      plugins: { hello: { config: { a: 1 }, trusted: true, enabled: true } },
    });
    const { config, warnings } = await home.load();
    expect(config).toMatchObject({ extension_host: { enabled: false, allow_unsandboxed: false }, plugins: {} });
    const told = warnings.join('\n');
    for (const key of ['extension_host', 'plugins'])
      expect(told).toMatch(new RegExp(`odek.json: ${key}\\S* is ignored: a project cannot set it`));
  });

  it.each([
    [{ extension_host: { runtime: 'bun' } }, /extension_host.runtime is not a setting of odek.*there is no Bun/],
    [{ extension_host: { runtime: 'node' } }, /extension_host.runtime/],
    [{ extension_host: { bun: '~/.bun/bin/bun' } }, /extension_host.bun/],
    [{ extension_host: { mcp_backend: 'rust' } }, /extension_host.mcp_backend/],
    [{ features: { extension_host: true } }, /the key is extension_host.enabled/],
    [{ features: { finance_host: true } }, /features.finance_host/],
    [{ extension_host: { enabled: 'yes' } }, /true or false/],
    [{ extension_host: { node: '' } }, /not empty/],
    [{ plugins: { Hello: { config: {} } } }, /the name of a plugin/],
    [{ plugins: { hello: { config: [] } } }, /an object/],
  ])('refuses %j and says why', async (given, told) => {
    await home.global(given);
    await expect(home.load()).rejects.toMatchObject({ code: 'invalid_value', message: expect.stringMatching(told) });
  });

  it('tells of what else stands beside the settings of a plugin', async () => {
    await home.global({ plugins: { hello: { enabled: true } } });
    const { warnings } = await home.load();
    expect(warnings.join()).toContain('unknown key plugins.hello.enabled');
  });
});
