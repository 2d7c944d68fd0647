// biome-ignore-all lint/suspicious/noTemplateCurlyInString: a text of a module holds one.
import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { onStage, PATIENT, type Stage } from '../support/stage.ts';

const EXAMPLES = fileURLToPath(new URL('../../../docs/examples/plugins', import.meta.url));
const HOOK = new URL('../support/loaded-modules.mjs', import.meta.url).href;
const TOKEN = /[0-9a-f]{64}\.[0-9a-f]{64}/;
const WIDE = { columns: 240, rows: 60 };
const BARE = { configured: false };

/** Without what moves a cursor, rings or turns text around. */
const isHarmless = (text: string): boolean => !['\u001b', '\u0007', '\u202e'].some((each) => text.includes(each));
const plugin = ({ run }: Stage, ...args: string[]) => run(['plugin', ...args]);
const reviewed = async (stage: Stage, name: string): Promise<string> => TOKEN.exec((await plugin(stage, 'review', name)).stdout)?.[0] ?? '';

describe.concurrent('odek plugin', PATIENT, () => {
  it('is walked by a person at a terminal, from a new bundle to one that is on', () =>
    onStage(
      [],
      async (stage) => {
        const step = async (...args: string[]) => {
          const seen = await stage.terminal(['plugin', ...args], [], WIDE);
          expect(seen.exit).toBe(0);
          return seen.raw;
        };
        expect(await step('new', 'hello')).toContain('plugin.mts');
        expect(await step('test', './hello')).toContain('All is as it should be.');
        expect(await step('validate', './hello')).toContain('can be installed and reviewed');
        expect(await step('install', './hello')).toContain('Nothing of it runs');
        expect(await step('list')).toContain('not trusted');
        const review = await step('review', 'hello');
        expect(review).toContain('If you trust it and switch it on, it');
        const [token = ''] = TOKEN.exec(review) ?? [];
        expect(review).toContain(`odek plugin trust ${token}`);
        expect((await stage.terminal(['plugin', 'enable', 'hello'], [], WIDE)).exit).toBe(3);
        expect(await step('trust', token)).toContain('is trusted, exactly as it was reviewed');
        expect(await step('list')).toContain('trusted, off');
        expect(await step('enable', 'hello')).toContain('"hello" is on');
        expect(await step('list')).toContain('its code is not run: extension_host.enabled is false in ');
        const shown = await step('show', 'hello');
        expect(shown).toMatch(/trusted by\s+a person at a terminal \(.*odek plugin trust/);
        expect(shown).toMatch(/enabled by\s+a person at a terminal/);
        expect(shown.match(new RegExp(token, 'g'))).toHaveLength(2);
        expect(await step('reload')).toContain('"hello" is ready');
        expect(await step('disable', 'hello')).toContain('is off');
        expect(await step('revoke', 'hello')).toContain('no longer trusted');
        expect(await step('remove', 'hello')).toContain('was removed');
        expect(await step('list')).toContain('No plugin is installed');
      },
      BARE,
    ));

  it('says that nobody was at a terminal where nobody was', () =>
    onStage(
      [],
      async (stage) => {
        await plugin(stage, 'install', join(EXAMPLES, 'greeting'));
        expect((await plugin(stage, 'trust', await reviewed(stage, 'greeting'))).code).toBe(0);
        expect((await plugin(stage, 'show', 'greeting')).stdout).toMatch(/trusted by\s+the command line, with nobody at a terminal/);
        const [listed] = JSON.parse((await plugin(stage, 'list', '--json')).stdout);
        expect(listed).toMatchObject({ name: 'greeting', state: 'trusted', trusted_by: { who: 'command-line', how: 'odek plugin trust' } });
      },
      BARE,
    ));

  it('tells at every look that a byte changed at the same version', () =>
    onStage(
      [],
      async (stage) => {
        await plugin(stage, 'install', join(EXAMPLES, 'greeting'));
        await plugin(stage, 'trust', await reviewed(stage, 'greeting'));
        await plugin(stage, 'enable', 'greeting');
        const file = join(stage.state, 'plugins/greeting/greeting.mts');
        await writeFile(file, `${await readFile(file, 'utf8')} `);
        expect((await plugin(stage, 'list')).stdout).toContain('changed since it was trusted');
        expect(await plugin(stage, 'reload')).toMatchObject({
          code: 1,
          stdout: expect.stringContaining('does not run: its files are not those'),
        });
        expect((await plugin(stage, 'review', 'greeting')).stdout).toContain('~ greeting.mts');
      },
      BARE,
    ));

  it('works in the repl with the same words', () =>
    onStage([], async (stage) => {
      await mkdir(join(stage.work, 'my plugins'));
      await cp(join(EXAMPLES, 'guard'), join(stage.work, 'my plugins/guard'), { recursive: true });
      const seen = await stage.terminal(
        ['repl'],
        [
          { wait: '› ' },
          { send: '/plugin install "my plugins/guard"\r' },
          { wait: 'Nothing of it runs' },
          { wait: '› ' },
          { send: '/plugin review guard\r' },
          { wait: 'odek plugin trust' },
          { wait: '› ' },
          { send: '/plugin trust nonsense\r' },
          { wait: 'plugin_token_mismatch' },
          { wait: '› ' },
          { send: '/plugin frobnicate\r' },
          { wait: 'there is no action' },
          { wait: '› ' },
          { send: '/exit\r' },
        ],
        WIDE,
      );
      expect(seen.exit).toBe(0);
      const token = TOKEN.exec(seen.raw)?.[0] ?? '';
      expect((await plugin(stage, 'trust', token)).code).toBe(0);
    }));

  it.each([
    [['frobnicate'], 'frobnicate'],
    [['install'], 'usage: plugin install <folder>'],
    [['list', 'more'], 'usage: plugin list'],
    [['show', 'nothing'], 'there is no plugin "nothing"'],
    [['list', '--replace'], '--replace goes with odek plugin install'],
    [['trust', 'x'], 'a trust token is two hashes'],
    [['new', 'Not A Name'], 'the name of a plugin must be'],
  ])('refuses the words %j', (words, told) =>
    onStage(
      [],
      async (stage) => {
        expect(await plugin(stage, ...words)).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining(told) });
      },
      BARE,
    ),
  );

  it('does not write what a bundle says of itself to the terminal', () =>
    onStage(
      [],
      async (stage) => {
        const folder = join(stage.work, 'evil');
        await mkdir(folder);
        const schema = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json';
        const evil = '\u001b]0;owned\u0007\u001b[2J\u202e';
        await writeFile(
          join(folder, 'plugin.json'),
          JSON.stringify({ $schema: schema, name: 'evil', version: evil, description: evil, author: { name: evil }, [evil]: 1 }),
        );
        await plugin(stage, 'install', folder);
        for (const action of ['review', 'show', 'validate']) {
          const { stdout, stderr } = await plugin(stage, action, 'evil');
          expect(isHarmless(stdout + stderr)).toBe(true);
          expect(stdout).toMatch(/\\x1b|\\u001b/);
        }
        await mkdir(join(stage.state, 'plugins', 'a\u001b[2J'));
        await writeFile(join(stage.state, 'plugins', 'a\u001b[2J', 'plugin.json'), '{');
        expect(isHarmless((await plugin(stage, 'list')).stdout)).toBe(true);
      },
      BARE,
    ));

  it('is not loaded by a run where no plugin is installed', () =>
    onStage([{ text: 'Hello.' }], async (stage) => {
      const list = join(stage.work, 'loaded.txt');
      const ended = await stage.run(['run', 'hello'], { source: true, env: { NODE_OPTIONS: `--import=${HOOK}`, LOADED_MODULES: list } });
      expect(ended.code).toBe(0);
      const urls = (await readFile(list, 'utf8')).trim().split('\n');
      expect(urls.some((url) => url.endsWith('hosts/cli/run.ts'))).toBe(true);
      expect(urls.filter((url) => /\/(?:core|adapters|hosts)\/bundles\/(?!places)|\/acorn\//.test(url))).toEqual([]);
    }));
});

describe.concurrent('the examples', PATIENT, () => {
  it.each(['greeting', 'guard', 'house-style', 'notebook'])('%s can be installed, trusted and switched on as it is', (name) =>
    onStage(
      [],
      async (stage) => {
        expect((await plugin(stage, 'validate', join(EXAMPLES, name))).stdout).toBe(`"${name}" can be installed and reviewed.\n`);
        await plugin(stage, 'install', join(EXAMPLES, name));
        await plugin(stage, 'trust', await reviewed(stage, name));
        expect((await plugin(stage, 'enable', name)).code).toBe(0);
        expect((await plugin(stage, 'reload')).stdout).toBe(`"${name}" is ready.\n`);
      },
      BARE,
    ),
  );

  it.each([
    ['greeting', ['effect: tool greeting_greet', 'registered: command greet', 'ok     tool greeting_greet {"name":"Ada"}']],
    ['guard', ['registered: hook tools/pre-execute', 'ok     hook shell {"command":"git push --force origin main"}']],
    ['notebook', ['ok     add.mts', 'ok     find.mts', 'ok     tool notebook_find {"word":"MILK"}']],
    ['house-style', ['It has no code']],
  ])('%s passes its own test in the process of plugins and leaves nothing behind', (name, told) =>
    onStage(
      [],
      async (stage) => {
        const { code, stdout, stderr } = await plugin(stage, 'test', join(EXAMPLES, name));
        expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
        for (const line of told) expect(stdout).toContain(line);
        expect(await readdir(join(stage.state, 'extension-host')).catch(() => [])).not.toContainEqual(expect.stringMatching(/^test-/));
      },
      BARE,
    ),
  );

  it('fail their test where they do something else', () =>
    onStage(
      [],
      async (stage) => {
        await cp(join(EXAMPLES, 'greeting'), join(stage.work, 'greeting'), { recursive: true });
        const file = join(stage.work, 'greeting/greeting.mts');
        await writeFile(file, (await readFile(file, 'utf8')).replace('Hello, ${name}!', 'Bye, ${name}!'));
        const { code, stdout } = await plugin(stage, 'test', './greeting');
        expect(code).toBe(1);
        expect(stdout).toContain('FAILED tool greeting_greet');
        expect(stdout).toContain('Bye, Ada!');
      },
      BARE,
    ));

  it.each([
    ['greeting_greet', 'shell'],
    ['greeting_greet', 'bad name'],
    ["name: 'greet'", "name: 'exit'"],
  ])('fail their test where odek would refuse a name: %s as %s', (before, after) =>
    onStage(
      [],
      async (stage) => {
        await cp(join(EXAMPLES, 'greeting'), join(stage.work, 'greeting'), { recursive: true });
        const file = join(stage.work, 'greeting/greeting.mts');
        await writeFile(file, (await readFile(file, 'utf8')).replace(before, after));
        const { code, stdout } = await plugin(stage, 'test', './greeting');
        expect(code).toBe(1);
        expect(stdout).toMatch(/FAILED greeting\.mts: .*was refused/);
      },
      BARE,
    ),
  );

  it('are these four', async () => expect((await readdir(EXAMPLES)).sort()).toEqual(['greeting', 'guard', 'house-style', 'notebook']));
});
