import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DANGER_CLASSES } from '../../../ports/approval.ts';
import { MAX_SHELL_BYTES } from '../../../ports/shell-grammar.ts';
import { CORPUS } from './corpus.ts';
import { classesOf, rankOf } from './line.ts';

/** Lines that stay whole when something is put around them: read without a fault, on one line, not ended by a comment. */
const entries = (names: readonly string[]): readonly string[] =>
  names.flatMap((name) => CORPUS[name] ?? []).flatMap(([command]) => (/[\n#\\]|^\(\(|&\s*$/.test(command) ? [] : [command]));

const HARMLESS = entries(['safe', 'local_write']);
const READABLE = entries([
  'safe',
  'local_write',
  'install',
  'network_egress',
  'network_upload',
  'code_execution',
  'system_write',
  'persistence',
  'destructive',
  'blocked',
]);
const WRECKING = entries(['destructive', 'blocked']);

/** What is after the harmless part may depend on the folder or on names: those that set neither. */
const KEEPS_PLACE = HARMLESS.filter(
  (line) => !/\b(?:cd|pushd|popd|alias|unalias|HOME|PWD|IFS|f\(\)|FILE=|A=|X=|API_KEY=|ls\(\)|npm\(\))/.test(line),
);

const JOINS = ['; ', ' && ', ' || ', ' & ', '\n', ' | ', ';\n\t'];

const one = (lines: readonly string[]): fc.Arbitrary<string> => fc.constantFrom(...lines);
const join = fc.constantFrom(...JOINS);

/** What takes an archive or a patch from its input: a known one need not be feared. */
const UNPACKS = /\b(?:patch|am|apply|tar)\b/;

describe('a harmless prefix', () => {
  it('never hides what comes after it: every class of the rest stays', () => {
    fc.assert(
      fc.property(one(KEEPS_PLACE), join, one(READABLE), (before, joint, rest) => {
        const alone = classesOf(rest).filter((cls) => cls !== 'safe');
        // A pipe hands its output to `xargs`, shells and `patch`, which is then known: only more can be seen.
        const together = classesOf(`${before}${joint}${joint === ' | ' ? `{ ${rest}\n}` : rest}`);
        expect(together).toEqual(
          expect.arrayContaining(
            joint === ' | ' ? alone.filter((cls) => cls !== 'unknown' && !(cls === 'persistence' && UNPACKS.test(rest))) : alone,
          ),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('never lowers the rank of what wrecks, however many there are', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(one(KEEPS_PLACE), join), { maxLength: 6 }), one(WRECKING), (before, rest) => {
        const line = `${before.map(([command, joint]) => command + joint).join('')}{ ${rest}\n}`;
        expect(rankOf(classesOf(line))).toBeGreaterThanOrEqual(rankOf(classesOf(rest)));
      }),
      { numRuns: 1000 },
    );
  });

  it('never makes a harmful suffix allowed, and a harmless suffix never lowers a harmful prefix', () => {
    fc.assert(
      fc.property(one(WRECKING), join, one(KEEPS_PLACE), (before, joint, after) => {
        expect(rankOf(classesOf(before + joint + after))).toBeGreaterThanOrEqual(rankOf(classesOf(before)));
      }),
      { numRuns: 1000 },
    );
  });
});

/** Ways to put a command into another one. A space keeps `$(` and a subshell from being arithmetic. */
const AROUND: readonly ((line: string) => string)[] = [
  (line) => `(${line})`,
  (line) => `{ ${line}\n}`,
  (line) => `if true; then ${line}\nfi`,
  (line) => `if ${line}\nthen :; fi`,
  (line) => `while true; do ${line}\ndone`,
  (line) => `for i in 1; do ${line}\ndone`,
  (line) => `case x in x) ${line}\n;; esac`,
  (line) => `g() { ${line}\n}; g`,
  (line) => `g() { ${line}\n}`,
  (line) => `! { ${line}\n}`,
  (line) => `echo "$( ${line})"`,
  (line) => `x=$( ${line}\n)`,
  (line) => `echo "\${x:-a}$( ${line}\n)"`,
  (line) => `cat <( ${line}\n)`,
  (line) => `cat <<EOF\n$( ${line}\n)\nEOF`,
  (line) => `sh -c ${quoted(line)}`,
  (line) => `bash -ec ${quoted(line)}`,
  (line) => `eval ${quoted(line)}`,
  (line) => `trap ${quoted(line)} EXIT`,
  (line) => `sudo -n timeout 5 env A=1 sh -c ${quoted(line)}`,
  (line) => `sh <<'EOF'\n${line}\nEOF`,
  (line) => `printf '%s' ${quoted(line)} | sh`,
  (line) => `echo ${quoted(line)} | cat | bash`,
  (line) => `echo ${btoa(unescape(encodeURIComponent(line)))} | base64 -d | sh`,
  (line) => `find . -exec sh -c ${quoted(line)} \\;`,
  (line) => `xargs sh -c ${quoted(line)}`,
  (line) => `X=${quoted(line)}; eval "$X"`,
];

function quoted(line: string): string {
  return `'${line.replaceAll("'", "'\\''")}'`;
}

describe('a command inside of another', () => {
  it('keeps its classes, however it is put there', () => {
    fc.assert(
      fc.property(
        one(WRECKING.concat(entries(['system_write', 'network_upload', 'persistence']))),
        fc.constantFrom(...AROUND),
        (line, around) => {
          const inside = classesOf(line).filter((cls) => cls !== 'unknown' && cls !== 'safe');
          expect(classesOf(around(line))).toEqual(expect.arrayContaining(inside));
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('is at least code execution where a shell runs it', () => {
    const shells = [
      'sh',
      'bash',
      'dash',
      'zsh -s',
      '/bin/sh',
      'sudo sh',
      'env A=1 bash',
      'nohup sh',
      'time bash -x',
      'timeout 5 sh',
      '{ sh; }',
      '(bash)',
    ];
    fc.assert(
      fc.property(one(HARMLESS), fc.constantFrom(...shells), (line, shell) => {
        expect(classesOf(`${line} | ${shell}`)).toContain('code_execution');
      }),
      { numRuns: 1000 },
    );
  });
});

describe('spelling', () => {
  it('of a program changes nothing: quotes, backslashes, folders, case', () => {
    const spell: readonly ((name: string) => string)[] = [
      (name) => `'${name}'`,
      (name) => `"${name}"`,
      (name) => `\\${name}`,
      (name) => [...name].map((letter) => `\\${letter}`).join(''),
      (name) => [...name].join("''"),
      (name) => [...name].map((letter) => `"${letter}"`).join(''),
      (name) => `$'${[...name].map((letter) => `\\x${letter.charCodeAt(0).toString(16)}`).join('')}'`,
      (name) => `/bin/${name}`,
      (name) => `/usr/bin/${name}`,
      (name) => name.toUpperCase(),
      (name) => [...name].join('\\\n'),
    ];
    const plain = WRECKING.flatMap((line) => (/^([a-z]+) (.*)$/s.exec(line)?.slice(1, 3) as [string, string] | undefined) ?? []).length;
    expect(plain).toBeGreaterThan(0);
    const programs = WRECKING.flatMap((line) => {
      const [, name, rest] = /^(rm|dd|find|rsync|shutdown|mkfs|kubectl|sudo|chmod) (.*)$/s.exec(line) ?? [];
      return name === undefined || rest === undefined ? [] : [[name, rest] as const];
    });
    fc.assert(
      fc.property(fc.constantFrom(...programs), fc.constantFrom(...spell), ([name, rest], change) => {
        expect(rankOf(classesOf(`${change(name)} ${rest}`))).toBeGreaterThanOrEqual(rankOf(classesOf(`${name} ${rest}`)));
      }),
      { numRuns: 1000 },
    );
  });

  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: text for a shell
  it('of a program by an expansion is always unknown at least', () => {
    const made = ['$X', '${X}', '"$X"', '$(echo ls)', '`echo ls`', 'l$Y', '${X:-ls}', '{ls,-a}', '$1', '"$@"', 'l*', '$((1))'];
    fc.assert(
      fc.property(fc.constantFrom(...made), one(['', ' a', ' -la src', ' .']), (program, rest) => {
        expect(rankOf(classesOf(program + rest))).toBeGreaterThanOrEqual(DANGER_CLASSES.indexOf('unknown'));
      }),
    );
  });
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: text for a shell
});

/** The longest a classification may take on a slow and busy machine; one that is not bounded takes minutes. */
const HANG_MS = 20_000;

function timed(line: string): readonly string[] {
  const start = performance.now();
  const classes = classesOf(line);
  expect(performance.now() - start).toBeLessThan(HANG_MS);
  return classes;
}

const TOKENS = [
  'rm',
  '-rf',
  '/',
  'sh',
  '-c',
  'a',
  '$x',
  '${x',
  '}',
  '$(',
  ')',
  '`',
  '"',
  "'",
  '\\',
  ';',
  '&',
  '|',
  '<',
  '>',
  '<<E',
  '\nE\n',
  '{',
  ',',
  '(',
  '((',
  '[[',
  ']]',
  'if',
  'then',
  'fi',
  'for',
  'in',
  'do',
  'done',
  'case',
  'esac',
  '*',
  '~',
  '=',
  '#',
  '\n',
  ' ',
  "$'",
  'eval',
  'xargs',
  'f()',
];

describe('classification', () => {
  it('is total: any text gets classes, in rank order, with reasons', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary', maxLength: 300 }),
          fc.array(fc.constantFrom(...TOKENS), { maxLength: 60 }).map((list) => list.join('')),
        ),
        (line) => {
          const classes = timed(line);
          expect(classes.length).toBeGreaterThan(0);
          expect(DANGER_CLASSES.filter((cls) => classes.includes(cls))).toEqual(classes);
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('takes bounded time on any 64 KiB', { timeout: 300_000 }, () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...TOKENS, ' '), { minLength: 1, maxLength: 6 }), (piece) => {
        const text = piece.join('');
        timed(text.repeat(Math.ceil(MAX_SHELL_BYTES / text.length)).slice(0, MAX_SHELL_BYTES));
      }),
      { numRuns: 120 },
    );
  });

  it.each<[string, string]>([
    ['commands', 'ls;'.repeat(21_000)],
    ['words', 'rm '.repeat(21_000)],
    ['one word', 'x'.repeat(65_000)],
    ['functions that call each other', `${Array.from({ length: 200 }, (_, at) => `f${at}() { f${at + 1}; f${at + 1}; }`).join('; ')}; f0`],
    ['variables that double', `a=xxxxxxxxxx; ${'a=$a$a; '.repeat(500)} rm -rf "$a"`],
    ['loops in loops', `${'for i in a b c d e f; do '.repeat(12)}rm $i${'; done'.repeat(12)}`],
    ['braces', `echo ${'{a,b}'.repeat(1000)}`],
    ['patterns', `cat ${'*'.repeat(30_000)}a${'*'.repeat(30_000)}`],
    ['patterns on names', `cat ${'*a'.repeat(20_000)}`],
    ['scripts of sed', `sed '${'s/a/b/;'.repeat(9000)}x!' f`],
    ['one long script of sed', `sed 's/${'\\\\/'.repeat(20_000)}' f`],
    ['evaluated text', `eval "${'eval '.repeat(12_000)}"`],
    ['wrappers', `${'env '.repeat(16_000)}ls`],
    ['paths', `cat ${'../'.repeat(21_000)}`],
    ['slashes', `rm -rf ${'/./'.repeat(21_000)}x`],
    ['dots', `rm -rf ${'/..'.repeat(21_000)}`],
    ['here-documents', 'cat <<A\n'.repeat(8000)],
    ['assignments', 'A=$B '.repeat(13_000)],
    ['hidden code', `echo '${'['.repeat(64_000)}'`],
    ['hidden indexes', `echo '${'[$('.repeat(20_000)}'`],
    ['git settings', `git ${'-c a=b '.repeat(8000)}log`],
    ['numbers in names', `ls${'1.'.repeat(32_000)}x`],
    ['xargs', `echo ${'a '.repeat(30_000)} | xargs rm`],
    ['printf', `printf '${'%s'.repeat(16_000)}' ${'a '.repeat(16_000)} | sh`],
  ])('of %s is bounded', (_, line) => {
    expect(line.length).toBeLessThan(70_000);
    timed(line.slice(0, MAX_SHELL_BYTES));
  });
});
