import assert from 'node:assert/strict';
import {
  MAX_SHELL_BYTES,
  MAX_SHELL_DEPTH,
  type ParsedShell,
  type ShellGrammar,
  type ShellPart,
  type ShellWord,
} from '../../ports/shell-grammar.ts';
import type { ContractSuite } from './suite.ts';

export interface ShellGrammarHarness {
  make(): ShellGrammar;
}

/** Sources and the commands in them, wherever they stand. */
const SOURCES: readonly (readonly [source: string, ...commands: string[]])[] = [
  ['a x; b | c && d || e & f', 'a', 'b', 'c', 'd', 'e', 'f'],
  ['a $(b $(c)) `d`', 'a', 'b', 'c', 'd'],
  ['a "$(b)" <(c) >(d)', 'a', 'b', 'c', 'd'],
  ['a > "$(b)" <<< $(c)', 'a', 'b', 'c'],
  ['x=$(a) y=($(b)) c', 'a', 'b', 'c'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: shell text.
  ['a ${X:-$(b)} ${Y/$(c)/$(d)} $((1 + $(e)))', 'a', 'b', 'c', 'd', 'e'],
  ['a {1,$(b)}', 'a', 'b'],
  ['a <<END\n$(b)\nEND\n', 'a', 'b'],
  ["a <<'END'\n$(b)\nEND\n", 'a'],
  ["a '$(b)'", 'a'],
  ['f() { a; }', 'a'],
  ['if a; then b; elif c; then d; else e; fi', 'a', 'b', 'c', 'd', 'e'],
  ['for i in $(a); do b; done; while c; do d; done; until e; do f; done', 'a', 'b', 'c', 'd', 'e', 'f'],
  ['case $(a) in x) b;; *) c;; esac', 'a', 'b', 'c'],
  ['(a); { b; }; ! c', 'a', 'b', 'c'],
];

/** Every object in a tree that has a `kind`. */
function nodes(value: unknown): readonly { readonly kind: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  const inner = Object.values(value).flatMap(nodes);
  return 'kind' in value && typeof value.kind === 'string' ? [{ ...value, kind: value.kind }, ...inner] : inner;
}

function wordsOf({ script }: ParsedShell): readonly ShellWord[] {
  return nodes(script).flatMap((node) => (node.kind === 'simple' && 'words' in node ? (node.words as readonly ShellWord[]) : []));
}

function textOf({ parts }: ShellWord): string | undefined {
  return parts.every((part) => part.kind === 'text') ? parts.map((part) => part.value).join('') : undefined;
}

function commandsOf({ script }: ParsedShell): readonly string[] {
  return nodes(script).flatMap((node) => {
    const first = node.kind === 'simple' && 'words' in node ? (node.words as readonly ShellWord[])[0] : undefined;
    return first === undefined ? [] : [textOf(first) ?? '?'];
  });
}

/** The part of the second word of `echo <word>`. */
async function partOf(grammar: ShellGrammar, word: string): Promise<ShellPart | undefined> {
  return wordsOf((await grammar.load())(`echo ${word}`))[1]?.parts[0];
}

const nested = (depth: number): string => `${'$('.repeat(depth)}a${')'.repeat(depth)}`;

/** What every {@link ShellGrammar} keeps. */
export const shellGrammarSuite: ContractSuite<ShellGrammarHarness> = {
  port: 'shell-grammar',
  cases: [
    {
      id: 'shell-grammar/commands',
      sentence: 'Every command of a source is in the tree, also those in substitutions, here-documents, functions and compound commands.',
      async run({ make }) {
        const parse = await make().load();
        for (const [source, ...commands] of SOURCES) {
          const parsed = parse(source);
          assert.deepEqual([...commandsOf(parsed)].sort(), commands, source);
          assert.deepEqual(parsed.faults, [], source);
        }
      },
    },
    {
      id: 'shell-grammar/quotes',
      sentence: "A word's text has its quotes taken off as the shell would: r\\m, 'rm' and \"r\"m are all rm.",
      async run({ make }) {
        const parse = await make().load();
        for (const word of ['rm', 'r\\m', "'rm'", '"r"m', "$'r\\x6d'", 'r\\\nm', '""rm'])
          assert.deepEqual(wordsOf(parse(word)).map(textOf), ['rm'], JSON.stringify(word));
        assert.deepEqual(wordsOf(parse('\'a b\' ""')).map(textOf), ['a b', '']);
        assert.deepEqual(
          wordsOf(parse('"a b"')).map(({ text }) => text),
          ['"a b"'],
        );
      },
    },
    {
      id: 'shell-grammar/expansions',
      sentence: 'What is expanded at run time stays an expansion and is never turned into text.',
      async run({ make }) {
        const grammar = make();
        for (const [word, kind] of [
          ['$HOME', 'variable'],
          ['"$HOME"', 'variable'],
          // biome-ignore lint/suspicious/noTemplateCurlyInString: shell text.
          ['${X:-y}', 'variable'],
          ['$(a)', 'command'],
          ['`a`', 'command'],
          ['$((1 + 2))', 'arithmetic'],
          ['*.ts', 'glob'],
          ['{a,b}', 'choice'],
          ["'$HOME'", 'text'],
          ['\\$HOME', 'text'],
        ] as const)
          assert.equal((await partOf(grammar, word))?.kind, kind, word);
      },
    },
    {
      id: 'shell-grammar/faults',
      sentence: 'A source that is incomplete, or that shells read differently, has a fault.',
      async run({ make }) {
        const parse = await make().load();
        for (const source of ['a "b', "a 'b", 'if a', 'a $(b', '`a', 'for i in', 'a <<END\n$(b', 'a;;b', 'x "$(a "b)"'])
          assert.deepEqual([...new Set(parse(source).faults.map(({ code }) => code))], ['syntax'], source);
        for (const source of ['a\rb', 'a\u0000b', '((i=$(a)))'])
          assert.equal(parse(source).faults[0]?.code, 'ambiguous', JSON.stringify(source));
        assert.ok(parse('a `'.repeat(99)).faults.length <= 20);
      },
    },
    {
      id: 'shell-grammar/limits',
      sentence: `A source of more than ${MAX_SHELL_BYTES} bytes or nested deeper than ${MAX_SHELL_DEPTH} has a fault of code limit; nothing is thrown.`,
      async run({ make }) {
        const parse = await make().load();
        const codes = (source: string) => [...new Set(parse(source).faults.map(({ code }) => code))];
        assert.deepEqual(codes('a'.repeat(MAX_SHELL_BYTES)), []);
        assert.deepEqual(codes('a'.repeat(MAX_SHELL_BYTES + 1)), ['limit']);
        assert.deepEqual(codes('é'.repeat(MAX_SHELL_BYTES / 2 + 1)), ['limit']);
        assert.deepEqual(codes(nested(MAX_SHELL_DEPTH / 2)), []);
        for (const depth of [MAX_SHELL_DEPTH + 1, 1000, 20_000]) assert.ok(codes(nested(depth)).includes('limit'), `${depth} levels`);
        assert.ok(codes('('.repeat(30_000)).length > 0);
      },
    },
  ],
};
