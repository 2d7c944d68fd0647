import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CANONICAL_MCP_SCHEMA } from '../../../core/bundles/manifest.ts';
import { mayHaveBundles } from '../../../hosts/bundles/places.ts';
import { BY, CODE, createShelfStage, manifest } from './stage.ts';

type Stage = Awaited<ReturnType<typeof createShelfStage>>;
let stage: Stage;
beforeEach(async () => {
  stage = await createShelfStage();
});
afterEach(() => stage.remove());

const hello = (more: Readonly<Record<string, string | object>> = {}) => ({ 'plugin.json': manifest('hello'), 'plugin.mts': CODE, ...more });
const installHello = async (more = {}) => stage.shelf.install(await stage.source(hello(more)), { replace: false });
const installed = (path: string): string => join(stage.home, 'plugins/hello', path);
const standing = async (name = 'hello') => (await stage.shelf.find(name)).standing;

describe('the life of a bundle', () => {
  it('goes from a copy over a review and a trust to a switch, and nothing runs before the switch', async () => {
    expect(mayHaveBundles(stage.placesIn(stage.work))).toBe(false);
    expect((await installHello()).standing).toBe('untrusted');
    expect((await stage.active()).bundles).toEqual([]);
    const token = await stage.tokenOf('hello');
    expect(await standing()).toBe('untrusted');
    expect((await stage.shelf.trust(token, BY)).standing).toBe('trusted');
    expect(await stage.active()).toEqual({ bundles: [], troubles: [] });
    expect((await stage.shelf.enable('hello', BY)).standing).toBe('on');
    const { bundles, troubles } = await stage.active({ hello: { greeting: 'Hi' } });
    expect(troubles).toEqual([]);
    expect(bundles).toEqual([
      expect.objectContaining({
        ...{
          name: 'hello',
          version: '1.0.0',
          scope: 'user',
          config: { greeting: 'Hi' },
          trustedBy: BY,
          enabledBy: BY,
          skillRoots: [],
          mcpServers: [],
        },
        entries: [{ path: 'plugin.mts', sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
      }),
    ]);
    const [bundle] = bundles;
    expect(`${bundle?.contentHash}.${bundle?.capabilityHash}`).toBe(token);
    const run = await readFile(join(bundle?.root ?? '', 'plugin.mts'), 'utf8');
    expect(stage.hash.sha256(run)).toBe(bundle?.entries[0]?.sha256);
    expect(bundle?.table['plugin.mts']).toBe(bundle?.entries[0]?.sha256);
    expect(run).not.toContain(': string[]');
    await stage.shelf.enable('hello', undefined);
    expect((await stage.active()).bundles).toEqual([]);
    expect(await standing()).toBe('trusted');
    await stage.shelf.revoke('hello');
    expect(await standing()).toBe('untrusted');
    await stage.shelf.remove('hello');
    expect(await stage.shelf.list()).toEqual([]);
  });

  it('is not installed with anything wrong, and says what', async () => {
    const source = await stage.source({ 'plugin.json': manifest('hello'), 'plugin.mts': 'enum A { B }' });
    await expect(stage.shelf.install(source, { replace: false })).rejects.toMatchObject({
      code: 'plugin_invalid',
      message: expect.stringContaining('plugin.mts:1: uses a TypeScript enum'),
    });
    expect(await readdir(join(stage.home, 'plugins'))).toEqual([]);
  });

  it.each(['state.json', 'state.json.lock'])('is not installed under the name %s', async (name) => {
    const source = await stage.source({ 'plugin.json': manifest(name, {}) });
    await expect(stage.shelf.install(source, { replace: true })).rejects.toMatchObject({ code: 'plugin_refused' });
  });

  it("is not installed over a data folder of odek's own, whatever was asked", async () => {
    await mkdir(join(stage.home, 'plugins/hello/data'), { recursive: true });
    await expect(stage.shelf.install(await stage.source(hello()), { replace: true })).rejects.toMatchObject({ code: 'plugin_exists' });
    expect(await readdir(join(stage.home, 'plugins/hello'))).toEqual(['data']);
    expect(await stage.shelf.list()).toEqual([]);
  });

  it('is trusted with the exact token of a review, and with nothing else', async () => {
    await installHello();
    const token = await stage.tokenOf('hello');
    const other = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
    for (const wrong of ['', 'hello', other, token.toUpperCase(), token.slice(1), `${token} `]) {
      await expect(stage.shelf.trust(wrong, BY)).rejects.toMatchObject({ code: 'plugin_token_mismatch' });
    }
    expect(await standing()).toBe('untrusted');
  });

  it('is not trusted with a token that no review printed, right as it may be', async () => {
    const { inspection } = await installHello();
    const token = `${inspection?.content}.${inspection?.capability}`;
    await expect(stage.shelf.trust(token, BY)).rejects.toMatchObject({
      code: 'plugin_token_mismatch',
      message: expect.stringContaining('no review'),
    });
    expect(await stage.tokenOf('hello')).toBe(token);
    expect((await stage.shelf.trust(token, BY)).standing).toBe('trusted');
  });

  it('is not trusted when it changed after the review', async () => {
    await installHello();
    const token = await stage.tokenOf('hello');
    await writeFile(installed('plugin.mts'), `${CODE}\n`);
    await expect(stage.shelf.trust(token, BY)).rejects.toMatchObject({ code: 'plugin_changed' });
  });

  it('is not switched on before it is trusted', async () => {
    await installHello();
    await expect(stage.shelf.enable('hello', BY)).rejects.toMatchObject({ code: 'plugin_not_trusted' });
    await stage.tokenOf('hello');
    await expect(stage.shelf.enable('hello', BY)).rejects.toMatchObject({ code: 'plugin_not_trusted' });
  });

  it.each<[string, () => Promise<unknown>]>([
    ['one byte of its entry', async () => writeFile(installed('plugin.mts'), `${CODE} `)],
    ['a file that nothing imports', async () => writeFile(installed('notes.txt'), 'x')],
    [
      'its manifest at the same version',
      async () =>
        writeFile(
          installed('plugin.json'),
          JSON.stringify(manifest('hello', { native: { path: 'plugin.mts' }, capabilities: { host_services: ['model'] } })),
        ),
    ],
    ['a file that went', async () => rm(installed('lib.mts'))],
    ['a file that was called otherwise', async () => rename(installed('lib.mts'), installed('lib2.mts'))],
  ])('loses its trust with a change of %s, until it is reviewed, trusted and switched on again', async (_, change) => {
    await installHello({ 'lib.mts': 'export const a = 1;' });
    await stage.turnOn('hello');
    expect((await stage.active()).bundles).toHaveLength(1);
    await change();
    expect(await standing()).toBe('changed');
    expect(await stage.active()).toEqual({
      bundles: [],
      troubles: [{ name: 'hello', why: expect.stringContaining('odek plugin review hello') }],
    });
    const token = await stage.tokenOf('hello');
    expect((await stage.shelf.trust(token, BY)).standing).toBe('trusted');
    expect((await stage.active()).bundles).toEqual([]);
    await stage.shelf.enable('hello', BY);
    expect((await stage.active()).bundles).toHaveLength(1);
  });

  it.each(['root', 'source'] as const)('does not run from a copy with one other byte in its %s, and names the path', async (copy) => {
    await installHello();
    await stage.turnOn('hello');
    const [bundle] = (await stage.active()).bundles;
    const file = join(bundle?.[copy] ?? '', 'plugin.mts');
    await chmod(file, 0o600);
    await writeFile(file, 'evil');
    expect(await stage.active()).toEqual({
      bundles: [],
      troubles: [{ name: 'hello', why: expect.stringContaining('plugin.mts changed in the copy') }],
    });
    await stage.shelf.trust(await stage.tokenOf('hello'), BY);
    expect((await stage.active()).bundles).toHaveLength(1);
  });

  it('is staged anew, without a question, when its copy is gone or was made by another version', async () => {
    await installHello();
    await stage.turnOn('hello');
    await rm(join(stage.home, 'extension-host/snapshot'), { recursive: true });
    expect((await stage.active()).bundles).toHaveLength(1);
    const [bundle] = (await stage.active()).bundles;
    const receipt = join(bundle?.root ?? '', '../receipt.json');
    const held = await readFile(receipt, 'utf8');
    await chmod(receipt, 0o600);
    await writeFile(receipt, held.replace(/"transformer":"[^"]*"/, '"transformer":"another"'));
    expect((await stage.active()).bundles).toHaveLength(1);
    expect(await readFile(receipt, 'utf8')).toBe(held);
  });

  it('shows what changed since the last trust, in files and in what is allowed', async () => {
    await installHello();
    await stage.turnOn('hello');
    const capabilities = { host_services: ['network'], network_hosts: ['a.example'] };
    await writeFile(installed('plugin.json'), JSON.stringify(manifest('hello', { native: { path: 'plugin.mts' }, capabilities })));
    await writeFile(installed('plugin.mts'), CODE.replace('node:path', 'node:url').replace('join', 'fileURLToPath as join'));
    const review = (await stage.shelf.review('hello', BY)).join('\n');
    for (const part of [
      '  + network: a.example',
      '  - imports node:path',
      '  + imports node:url',
      '~ plugin.mts',
      "- import { join } from 'node:path';",
      "+ import { fileURLToPath as join } from 'node:url';",
    ]) {
      expect(review).toContain(part);
    }
  });

  it('leaves the others alone where one is broken', async () => {
    await installHello();
    await stage.turnOn('hello');
    const plugins = join(stage.home, 'plugins');
    await stage.put(join(plugins, 'broken'), { 'plugin.json': '{' });
    await stage.put(join(plugins, 'misnamed'), { 'plugin.json': manifest('other', {}) });
    await symlink(join(plugins, 'hello'), join(plugins, 'linked'));
    await stage.put(join(plugins, '.hidden'), { 'plugin.json': manifest('hidden', {}) });
    expect((await stage.shelf.list()).map(({ name, standing: state }) => [name, state])).toEqual([
      ['broken', 'invalid'],
      ['hello', 'on'],
      ['linked', 'invalid'],
      ['misnamed', 'invalid'],
    ]);
    expect(await stage.active()).toMatchObject({ bundles: [{ name: 'hello' }], troubles: [] });
    await expect(stage.shelf.review('misnamed', BY)).rejects.toMatchObject({
      code: 'plugin_invalid',
      message: expect.stringContaining('must be the same'),
    });
    await expect(stage.shelf.find('helo')).rejects.toMatchObject({
      code: 'plugin_not_found',
      message: expect.stringContaining('did you mean "hello"'),
    });
  });

  it('says in a review with whom its code would share a process', async () => {
    await installHello();
    await stage.turnOn('hello');
    const same = { 'plugin.json': manifest('same'), 'plugin.mts': CODE };
    const more = {
      'plugin.json': manifest('more', { native: { path: 'plugin.mts' }, capabilities: { host_services: ['model'] } }),
      'plugin.mts': CODE,
    };
    await stage.shelf.install(await stage.source(same, 'same'), { replace: false });
    await stage.shelf.install(await stage.source(more, 'more'), { replace: false });
    expect((await stage.shelf.review('same', BY)).join('\n')).toContain('shares its process with hello');
    expect((await stage.shelf.review('more', BY)).join('\n')).not.toContain('shares its process');
  });

  it('is not on where the machine is another one than it asks for', async () => {
    const when = { os: [process.platform === 'linux' ? 'windows' : 'linux'] };
    await stage.shelf.install(await stage.source({ 'plugin.json': manifest('far', { when }) }, 'far'), { replace: false });
    await stage.shelf.install(
      await stage.source({ 'plugin.json': manifest('tool', { when: { binaries: ['no-such-program'] } }) }, 'tool'),
      { replace: false },
    );
    await stage.shelf.install(await stage.source({ 'plugin.json': manifest('near', { when: { binaries: ['sh'] } }) }, 'near'), {
      replace: false,
    });
    for (const name of ['far', 'tool', 'near']) await stage.turnOn(name);
    const { bundles, troubles } = await stage.active();
    expect(bundles.map(({ name }) => name)).toEqual(['near']);
    expect(troubles.map(({ why }) => why)).toEqual([expect.stringContaining('it is for'), expect.stringContaining('no-such-program')]);
  });

  it('gets its settings whole or not at all', async () => {
    await installHello();
    await stage.turnOn('hello');
    const { bundles } = await stage.active({ hello: { text: 'x'.repeat(20_000) } });
    expect(bundles[0]).toMatchObject({ config: {}, configRefused: expect.stringContaining('the limit is 16384') });
  });
});

describe('a bundle of a project', () => {
  const folder = (work: string) => join(work, '.odek/plugins/hello');

  it('is trusted for its project alone', async () => {
    await stage.put(folder(stage.work), hello());
    const other = join(stage.root, 'other');
    await stage.put(folder(other), hello());
    const elsewhere = stage.shelfIn(other);
    await stage.turnOn('hello');
    expect((await stage.active()).bundles).toMatchObject([{ scope: 'workspace', workspace: stage.work }]);
    expect((await elsewhere.find('hello')).standing).toBe('untrusted');
    expect((await stage.active({}, elsewhere, other)).bundles).toEqual([]);
    const token = await stage.tokenOf('hello');
    await expect(elsewhere.trust(token, BY)).rejects.toMatchObject({
      code: 'plugin_token_mismatch',
      message: expect.stringContaining('trust it there'),
    });
    expect(await stage.tokenOf('hello', elsewhere)).not.toBe(token);
  });

  it('stands beside one of the user of the same name, each with its own trust', async () => {
    await stage.put(folder(stage.work), hello());
    await installHello();
    await expect(stage.shelf.find('hello')).rejects.toMatchObject({ message: expect.stringContaining('user:hello or workspace:hello') });
    await stage.turnOn('workspace:hello');
    expect(await standing('workspace:hello')).toBe('on');
    expect(await standing('user:hello')).toBe('untrusted');
  });

  it("is the project's to delete", async () => {
    await stage.put(folder(stage.work), hello());
    await expect(stage.shelf.remove('hello')).rejects.toMatchObject({ code: 'plugin_unsupported' });
    expect((await stat(folder(stage.work))).isDirectory()).toBe(true);
  });
});

describe('what a bundle has beside code', () => {
  const files = {
    'plugin.json': manifest('kit', { skills: { path: 'more' } }),
    'mcp.json': {
      $schema: CANONICAL_MCP_SCHEMA,
      mcpServers: {
        db: {
          type: 'stdio',
          command: './bin/server',
          args: [`\${PLUGIN_DATA}/db`],
          env: { ROOT: `\${PLUGIN_ROOT}`, API_TOKEN: 'x' },
          cwd: `\${PLUGIN_DATA}`,
        },
        web: { type: 'streamable-http', url: 'https://mcp.example.com/mcp' },
        bad: { type: 'stdio' },
      },
    },
    'bin/server': '#!/bin/sh\n',
    'skills/good/SKILL.md': '---\nname: good\ndescription: Does good.\n---\n',
    'skills/bad/SKILL.md': 'nothing',
    'more/extra/SKILL.md': '---\nname: extra\ndescription: Does more.\n---\n',
  };

  it('is loaded, and each bad part is left out by itself with its reason', async () => {
    const { inspection } = await stage.shelf.install(await stage.source(files), { replace: false });
    expect(inspection?.problems.map(({ where }) => where)).toEqual(['mcp.json: "bad"', 'skills/bad/SKILL.md']);
    await stage.turnOn('kit');
    const [bundle] = (await stage.active()).bundles;
    const { source = '', dataDir = '' } = bundle ?? {};
    expect(bundle?.entries).toEqual([]);
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
    expect(bundle?.skillRoots).toEqual([join(source, 'skills'), join(source, 'more')]);
    expect(bundle?.mcpServers).toEqual([
      expect.objectContaining({
        ...{
          name: 'kit_db',
          transport: 'stdio',
          origin: 'operator',
          command: join(source, 'bin/server'),
          args: [`${dataDir}/db`],
          cwd: dataDir,
        },
        env: { ROOT: source, PLUGIN_ROOT: source, PLUGIN_DATA: dataDir },
      }),
      expect.objectContaining({
        name: 'kit_web',
        transport: 'http',
        origin: 'project',
        url: 'https://mcp.example.com/mcp',
        autoApprove: false,
      }),
    ]);
  });

  it('does not read a skill root or servers where there is something else', async () => {
    const odd = { 'plugin.json': manifest('odd', { skills: { path: 'none' } }), skills: 'x', 'mcp.json/x': '' };
    const { inspection, standing: state } = await stage.shelf.install(await stage.source(odd), { replace: false });
    expect(state).toBe('untrusted');
    expect(inspection?.problems.map(({ where }) => where).sort()).toEqual(['mcp.json', 'none', 'skills']);
  });
});

it('two processes that trust at the same time both keep what they were told', async () => {
  await installHello();
  await stage.shelf.install(await stage.source({ 'plugin.json': manifest('other'), 'plugin.mts': CODE }, 'other'), { replace: false });
  const tokens = [await stage.tokenOf('hello'), await stage.tokenOf('other')];
  const source = (path: string): string => JSON.stringify(fileURLToPath(new URL(`../../../${path}`, import.meta.url)));
  const script = `
    const { openShelf } = await import(${source('hosts/bundles/shelf.ts')});
    const { bundlePlaces } = await import(${source('hosts/bundles/places.ts')});
    const { createSha256 } = await import(${source('adapters/hash/sha256.ts')});
    const [home, work, token] = process.argv.slice(1);
    const shelf = openShelf({ places: bundlePlaces({ home }, work), hash: createSha256(), env: {}, warn: console.error });
    await shelf.trust(token, { who: 'command-line', how: 'a process', account: 'ada', at: 1 });`;
  const run = (token: string) =>
    promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, stage.home, stage.work, token]);
  await Promise.all([...tokens, ...tokens].map(run));
  expect((await stage.shelf.list()).map(({ name, standing: state }) => [name, state])).toEqual([
    ['hello', 'trusted'],
    ['other', 'trusted'],
  ]);
});
