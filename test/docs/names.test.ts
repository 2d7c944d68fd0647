import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkNames, documentPages, type KnownNames, knownNames } from './names.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('every link, path, script, command, flag and symbol that the documents name exists', async () => {
  const report = checkNames(ROOT, documentPages(ROOT), await knownNames(ROOT));
  expect(report.problems).toEqual([]);
  expect(report.checked).toBeGreaterThan(100);
});

test('docs/README.md leads to every page and file of docs', () => {
  const links = new Set([...readFileSync(join(ROOT, 'docs/README.md'), 'utf8').matchAll(/\]\(([^)#]+)\)/g)].map((match) => match[1]));
  const entries = readdirSync(join(ROOT, 'docs'), { withFileTypes: true });
  const pages = entries.filter((entry) => entry.isFile() && entry.name !== 'README.md').map((entry) => entry.name);
  expect(pages.length).toBeGreaterThan(10);
  expect(pages.filter((page) => !links.has(page))).toEqual([]);
});

describe('a document that names something that is not there', () => {
  const known: KnownNames = {
    commands: { run: ['model', 'json'], version: [] },
    scripts: ['bench', 'test'],
    words: new Set(['defineTool', 'dangerous', 'action', 'max_iterations']),
  };
  let folder = '';

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'odek-docs-'));
    await mkdir(join(folder, 'core'));
    await writeFile(join(folder, 'core/loop.ts'), '');
    await writeFile(join(folder, 'other.md'), '# A heading: with `code`\n');
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  const check = async (text: string): Promise<readonly string[]> => {
    await writeFile(join(folder, 'page.md'), text);
    return checkNames(folder, ['page.md'], known).problems;
  };

  test.each([
    ['a link', 'See [this](gone.md).', 'a link leads nowhere: gone.md'],
    ['a heading', 'See [this](other.md#gone).', 'no heading #gone in other.md'],
    ['a path', 'Read `core/gone.ts`.', 'no such path: core/gone.ts'],
    ['a path with a wildcard', 'Read `core/*.json`.', 'no such path: core/*.json'],
    ['a script', 'Type `npm run gone`.', 'package.json has no script gone'],
    ['a script in a block', '```sh\nnpm ci && npm run gone\n```', 'package.json has no script gone'],
    ['a command', 'Type `odek gone now`.', 'odek has no command gone'],
    ['a flag of another command', 'Type `odek version --json`.', 'odek version has no flag --json'],
    ['a flag in a block', '```sh\nnpx odek run --gone 1 "task"\n```', 'odek run has no flag --gone'],
    ['a flag alone', 'Give `--gone <x>`.', 'odek has no flag --gone'],
    ['a symbol', 'Call `defineGone()`.', 'nothing in source is called defineGone (defineGone())'],
    ['a key', 'Set `dangerous.gone`.', 'nothing in source is called gone (dangerous.gone)'],
    ['a variable', 'Set `ODEK_GONE`.', 'nothing in source is called ODEK_GONE (ODEK_GONE)'],
    ['an example that does not parse', '```json\n{ a: 1 }\n```', 'an example is not JSON'],
  ])('is told: %s', async (_, text, problem) => {
    const problems = await check(text);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(problem);
  });

  test('is not told about what is there', async () => {
    const text =
      '[a](other.md#a-heading-with-code) [b](https://example.org) `core/loop.ts` `core/` `core/<name>.ts` `npm test` `npm ci` `npm run bench` `odek run --model x "task"` `--json` `defineTool` `dangerous.action` `ODEK_MAX_ITERATIONS` `a sentence of words`';
    expect(await check(text)).toEqual([]);
  });
});
