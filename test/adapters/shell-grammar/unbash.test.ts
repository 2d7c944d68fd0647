import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createShellGrammar } from '../../../adapters/shell-grammar/unbash.ts';
import type { ShellNode, ShellScript } from '../../../ports/shell-grammar.ts';

const parse = await createShellGrammar().load();

describe('the bash grammar', () => {
  it.each([
    ["echo $'\\'' ; ls #' ; rm", "$'…' with a quote"],
    ['[[ a || rm ]]', 'separates commands'],
    ['[[ a =~ b|rm ]]', 'more than a word'],
    ['[[ a > b ]]', 'redirections'],
    ['[[ ( a ) ]]', 'a subshell'],
    ['((rm))', 'nested subshell'],
    ['echo x &>/dev/null rm', 'command of its own'],
    ['ls !(rm)', 'subshell'],
    ['echo $[ 1 ]', 'plain text'],
    ["cat <<$'E'\nx\nE", 'no plain word'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: text for a shell
    ['echo "${x:-\'}\'}"', 'disagree'],
    ["echo $(( ' ))", 'disagree'],
    ['ls\u000brm', 'control characters'],
  ])('says that shells disagree about %j', (source, message) => {
    const found = parse(source).faults.filter(({ code }) => code === 'ambiguous');
    expect(found.map((fault) => fault.message).join()).toContain(message);
  });

  it('finds the faults of nested scripts', () => {
    expect(parse("echo $(echo 'x)").faults.length).toBeGreaterThan(0);
    expect(parse('echo "$(if true)"').faults.length).toBeGreaterThan(0);
    expect(parse('echo `(`').faults.length).toBeGreaterThan(0);
  });

  it('expands braces into their words, and leaves alone what it cannot', () => {
    const choice = (source: string) => {
      const node = parse(source).script.statements[0]?.node;
      const part = node?.kind === 'simple' ? node.words[1]?.parts[0] : undefined;
      return part?.kind === 'choice' ? part.options.map(([first]) => (first?.kind === 'text' ? first.value : '?')) : part?.kind;
    };
    expect(choice('a {b,c,}')).toEqual(['b', 'c', '']);
    expect(choice('a {1..3}')).toEqual(['1', '2', '3']);
    expect(choice('a {c..a}')).toEqual(['c', 'b', 'a']);
    for (const source of ['a {1..100}', 'a {b,{c,d}}', 'a {$x,b}', 'a {"b",c}']) expect(choice(source)).toBe('variable');
  });
});

/** What real shells run must be in the tree, or the source must have a fault. */
describe('beside real shells', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'odek-grammar-'));
    for (const name of PROGRAMS) {
      await writeFile(join(folder, name), `#!/bin/sh\necho ${name} >> "$SEEN"\n`);
      await chmod(join(folder, name), 0o755);
    }
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const PROGRAMS = ['mA', 'mB', 'mC'];
  const PIECES = [
    'mA',
    'mB',
    'mC',
    ' ',
    ' ',
    '\n',
    ';',
    '&',
    '&&',
    '||',
    '|',
    '(',
    ')',
    '{ ',
    '; }',
    '$(',
    '`',
    '"',
    "'",
    '\\',
    "$'",
    '#',
    '<<E',
    "<<'E'",
    '\nE\n',
    '${x:-',
    '}',
    '$((',
    '))',
    '[[ ',
    ' ]]',
    '! ',
    'if ',
    '; then ',
    '; fi',
    '>f',
    '2>&1',
    'a=',
    '&>f',
    'f()',
    'time ',
    '\\\n',
  ];

  async function ranBy(shell: string, source: string): Promise<readonly string[]> {
    const seen = join(folder, 'seen');
    await rm(seen, { force: true });
    spawnSync(shell, ['-c', source], { cwd: folder, env: { PATH: folder, SEEN: seen }, input: '', timeout: 3000, killSignal: 'SIGKILL' });
    return (await readFile(seen, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  }

  const programs = (script: ShellScript): string[] => {
    const found: string[] = [];
    const visit = (value: unknown): void => {
      if (typeof value !== 'object' || value === null) return;
      const node = value as Partial<ShellNode>;
      if (node.kind === 'simple')
        found.push(node.words?.[0]?.parts.map((part) => (part.kind === 'text' ? part.value : '…')).join('') ?? '');
      for (const child of Object.values(value)) visit(child);
    };
    visit(script);
    return found;
  };

  it('no command of sources put together at random is missed', { timeout: 120_000 }, async () => {
    const seed = Number(process.env.ODEK_TEST_SEED ?? Date.now() % 1_000_000);
    let state = seed;
    const random = (): number => {
      state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
      return state / 0x7fffffff;
    };
    let compared = 0;
    for (let tries = 0; tries < 20_000 && compared < 60; tries += 1) {
      const source = Array.from({ length: 3 + Math.floor(random() * 8) }, () => PIECES[Math.floor(random() * PIECES.length)]).join('');
      const { script, faults } = parse(source);
      const found = programs(script);
      if (faults.length > 0 || !found.some((name) => PROGRAMS.includes(name)) || found.some((name) => name.includes('…'))) continue;
      compared += 1;
      for (const shell of ['/bin/sh', '/bin/bash']) {
        for (const name of await ranBy(shell, source)) expect(found, `${shell}, seed ${seed}: ${JSON.stringify(source)}`).toContain(name);
      }
    }
    expect(compared).toBeGreaterThan(20);
  });
});
