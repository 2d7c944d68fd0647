import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ActivateParams } from '../../../ports/extension-host.ts';
import { openStage, RUNTIMES, type Stage, withTools } from './stage.ts';

const FILES = {
  'main.mjs': withTools(
    { answers: 'return value + data.word' },
    { head: "import { value } from './lib/value.mjs'; import data from './data.json' with { type: 'json' };" },
  ),
  'lib/value.mjs': "export { value } from '../deeper/value.js';",
  'deeper/value.js': 'export const value = 41;',
  'data.json': '{ "word": "!" }',
};
const never = new AbortController().signal;

describe.each(RUNTIMES.map((node, index) => ({ node, name: `runtime ${index + 1}` })))('reviewed files in $name', ({ node }) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage({ node });
  });
  afterAll(() => stage.close());

  const place = (): ActivateParams => stage.place('bundle', FILES, { entries: ['main.mjs'] });
  const diagnosticOf = async (params: ActivateParams): Promise<string> => {
    const result = await stage.host.activate(params, never);
    await stage.host.deactivate(params.owner);
    return result.entries[0]?.diagnostic ?? 'none';
  };

  test('run when they are what was reviewed', async () => {
    const params = place();
    expect((await stage.host.activate(params, never)).status).toBe('ok');
    expect((await stage.tool('answers')).content).toBe('41!');
    await stage.host.deactivate(params.owner);
  });

  test.each(Object.keys(FILES))('do not run when one byte of %s is another one, and it is named', async (path) => {
    const params = place();
    writeFileSync(join(params.root, path), `${FILES[path as keyof typeof FILES]} `);
    expect(await diagnosticOf(params)).toContain(`"${path}" is not the file that was reviewed: its SHA-256 is `);
    expect(stage.live.size).toBe(0);
  });

  test('do not run when an entry has another hash than the review says', async () => {
    const params = place();
    expect(await diagnosticOf({ ...params, entries: [{ path: 'main.mjs', sha256: 'a'.repeat(64) }] })).toBe(
      '"main.mjs" is not the file that was reviewed',
    );
  });

  test('do not run when one of them is gone, or not in the list', async () => {
    const gone = place();
    rmSync(join(gone.root, 'deeper/value.js'));
    expect(await diagnosticOf(gone)).toMatch(/ENOENT.*deeper\/value\.js/);
    const unlisted = place();
    const { 'deeper/value.js': _, ...files } = unlisted.files;
    expect(await diagnosticOf({ ...unlisted, files })).toContain('"deeper/value.js" is not among the reviewed files');
  });

  test('do not run from a link that leads elsewhere', async () => {
    const params = place();
    rmSync(join(params.root, 'deeper/value.js'));
    writeFileSync(join(stage.folder, 'elsewhere.js'), FILES['deeper/value.js']);
    symlinkSync(join(stage.folder, 'elsewhere.js'), join(params.root, 'deeper/value.js'));
    expect(await diagnosticOf(params)).toMatch(/ENOENT|restricted/);
  });

  test.each([
    [
      'a type that is imported as a value',
      { 'main.mjs': "import { Shape } from './types.mjs'; export function apply() {}", 'types.mjs': 'export {};' },
      /write "import type"/,
    ],
    [
      'JSON without its attribute',
      { 'main.mjs': "import data from './a.json'; export function apply() {}", 'a.json': '{}' },
      /with \{ type: 'json' \}/,
    ],
    [
      'a kind of file that is no module',
      { 'main.mjs': "import './a.node'; export function apply() {}", 'a.node': 'x' },
      /only \.mjs, \.js, \.mts, \.ts and \.json/,
    ],
    ['text that is no JavaScript', { 'main.mjs': 'enum A { B }' }, /enum|reserved word|Unexpected/],
    ['nothing that can be applied', { 'main.mjs': 'export const a = 1;' }, /neither a function nor an object with apply/],
    [
      'a top-level await that does not end',
      { 'main.mjs': 'await new Promise(() => {}); export function apply() {}' },
      /not active within 5000 ms/,
    ],
  ])('with %s are refused with what is wrong', async (_, files, told) => {
    const params = stage.place('wrong', files as Record<string, string>, { entries: ['main.mjs'] });
    expect(await diagnosticOf(params)).toMatch(told);
  });

  test('are evaluated anew for each activation, and once for all entries of one', async () => {
    const counted = {
      'shared.mjs': 'export const state = { count: 0 };',
      'one.mjs': withTools({ one: 'return String(++state.count)' }, { head: "import { state } from './shared.mjs';" }),
      'two.mjs': withTools({ two: 'return String(++state.count)' }, { head: "import { state } from './shared.mjs';" }),
    };
    for (let round = 0; round < 2; round += 1) {
      const params = stage.place('counted', counted, { entries: ['one.mjs', 'two.mjs'] });
      expect((await stage.host.activate(params, never)).status).toBe('ok');
      expect([(await stage.tool('one')).content, (await stage.tool('two')).content]).toEqual(['1', '2']);
      await stage.host.deactivate(params.owner);
    }
  });
});
