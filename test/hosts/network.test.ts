import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createConfigView } from '../../hosts/config-view.ts';
import { endpointProxy, guardedProxy } from '../../hosts/network.ts';
import { type Home, makeHome } from './config/home.ts';

const PROXY = 'http://me:pass%20word-1@proxy.example:3128';

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

async function configured(proxy?: string) {
  await home.global(proxy === undefined ? {} : { network: { proxy } });
  return (await home.load()).config;
}

describe('the client of the tools', () => {
  it('is told of a proxy that the environment names, where the operator says nothing', async () => {
    const config = await configured();
    expect(guardedProxy({ config, env: { https_proxy: 'http://p:1' } })).toEqual({ environmentProxy: 'https_proxy' });
    expect(guardedProxy({ config, env: {} })).toEqual({});
  });

  it("is given the operator's proxy, or none where the operator says so, whatever the environment names", async () => {
    const env = { HTTP_PROXY: 'http://other:1' };
    expect(guardedProxy({ config: await configured(PROXY), env })).toEqual({ proxy: PROXY });
    expect(guardedProxy({ config: await configured('none'), env })).toEqual({});
  });
});

describe('the client of an endpoint', () => {
  it("is given the operator's proxy alone, and none on this machine or in its network", async () => {
    const config = await configured(PROXY);
    expect(endpointProxy(config, new URL('https://api.example/v1'))).toEqual({ proxy: PROXY });
    for (const url of ['http://localhost:8080/v1', 'http://127.0.0.1/', 'http://[::1]:1/', 'http://10.0.0.7/', 'http://searx/'])
      expect(endpointProxy(config, new URL(url))).toEqual({});
    expect(endpointProxy(await configured('none'), new URL('https://api.example/'))).toEqual({});
    expect(endpointProxy(await configured(), new URL('https://api.example/'))).toEqual({});
  });
});

describe('network.proxy', () => {
  it.each(['socks5://p:1', 'https://p:1', 'p:3128', 'http://', 'http://p:1/path', 'NONE', ''])('is refused as %j', async (proxy) => {
    await home.global({ network: { proxy } });
    await expect(home.load()).rejects.toMatchObject({ code: 'invalid_value', message: expect.not.stringContaining('p:1') });
  });

  it('is hidden from whoever looks at the configuration, and its password is a secret in both spellings', async () => {
    const config = await configured(PROXY);
    expect(config.secrets).toEqual(expect.arrayContaining(['pass%20word-1', 'pass word-1']));
    expect(JSON.stringify(await createConfigView(config).view())).not.toContain('word-1');
  });
});
