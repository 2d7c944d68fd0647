import assert from 'node:assert/strict';
import {
  MAX_SHELL_BYTES,
  MAX_SHELL_DEPTH,
  type ParsedShell,
  type ShellGrammar,
  type ShellNode,
  type ShellPart,
  type ShellScript,
  type ShellWord,
} from '../../ports/shell-grammar.ts';
import type { ContractSuite } from './suite.ts';

export interface ShellGrammarHarness {
  make(): ShellGrammar;
}

/** Sources, and the programs that they run somewhere. */
const COMMANDS: readonly (readonly [source: string, programs: string])[] = [
  ['a', 'a'],
  ['a; b & c && d || e | f\ng', 'a b c d e f g'],
  ['(a; b)', 'a b'],
  ['{ a; b; }', 'a b'],
  ['if a; then b; else c; fi', 'a b c'],
  ['while a; do b; done', 'a b'],
  ['for x in 1 2; do a; done', 'a'],
  ['f() { a; }', 'a'],
  ['! a', 'a'],
  ['A=1 b', 'b'],
  ['A=$(a)', 'a'],
  ['a $(b "$(c)")', 'a b c'],
  ['a `b`', 'a b'],
  ['a "x$(b)y"', 'a b'],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: text for a shell
  ['a ${x:-$(b)}', 'a b'],
  ['a > $(b)', 'a b'],
  ['a <<E\n$(b)\nE\nc', 'a b c'],
  ["a <<'E'\n$(b)\nE\nc", 'a c'],
  ['a # b\nc', 'a c'],
  ["a '$(b)'", 'a'],
];

const SPELLED: readonly (readonly [source: string, text: string])[] = [
  ['rm', 'rm'],
  ['r\\m', 'rm'],
  ["'rm'", 'rm'],
  ['"r"m', 'rm'],
  ["r''m", 'rm'],
  ['r\\\nm', 'rm'],
  ['"r\\$m"', 'r$m'],
  ["'r\\m'", 'r\\m'],
  ['"r\\m"', 'r\\m'],
  ['r\\ m', 'r m'],
];

// biome-ignore lint/suspicious/noTemplateCurlyInString: text for a shell
const EXPANDED = ['$x', '"$x"', '${x}', 'r$x', '$(x)', '`x`', '"$(x)"', '${x:-y}'];

const UNREADABLE = ["'a", '"a', 'a $(b', '`a', '(a', 'a |', 'a &&', 'if a', '{ a', 'a <<E\nb', ')', 'a; }', 'fi', "$'a\\'b'", 'a\u0007'];

async function parsed({ make }: ShellGrammarHarness, source: string): Promise<ParsedShell> {
  return (await make().load())(source);
}

/** The programs of a script and of everything nested in it; `…` for one that is no plain text. */
function programsIn(script: ShellScript): string[] {
  return script.statements.flatMap(({ node }) => programsOf(node));
}

function programsOf(node: ShellNode): string[] {
  switch (node.kind) {
    case 'simple': {
      const targets = node.redirects.flatMap((redirect) => (redirect.kind === 'text' ? redirect.content : redirect.target));
      const values = node.assignments.flatMap(({ words, index }) => [...words, ...index]);
      const [program] = node.words;
      return [...(program ? [textOf(program) ?? '…'] : []), ...[...values, ...node.words, ...targets].flatMap(programsInWord)];
    }
    case 'pipeline':
      return node.members.flatMap(programsOf);
    case 'function':
      return programsOf(node.body);
    case 'compound':
      return [...node.words.flatMap(programsInWord), ...node.bodies.flatMap(programsIn)];
  }
}

function programsInWord({ parts }: ShellWord): string[] {
  return parts.flatMap(programsInPart);
}

function programsInPart(part: ShellPart): string[] {
  switch (part.kind) {
    case 'command':
    case 'process':
      return programsIn(part.script);
    case 'variable':
    case 'arithmetic':
      return part.words.flatMap(programsInWord);
    case 'choice':
      return part.options.flatMap((option) => option.flatMap(programsInPart));
    default:
      return [];
  }
}

function textOf({ parts }: ShellWord): string | undefined {
  const texts = parts.map((part) => (part.kind === 'text' ? part.value : undefined));
  return texts.includes(undefined) ? undefined : texts.join('');
}

function firstWord({ script }: ParsedShell): ShellWord | undefined {
  const node = script.statements[0]?.node;
  return node?.kind === 'simple' ? node.words[0] : undefined;
}

/** What every {@link ShellGrammar} keeps. */
export const shellGrammarSuite: ContractSuite<ShellGrammarHarness> = {
  port: 'shell-grammar',
  cases: [
    {
      id: 'shell-grammar/commands',
      sentence: 'Every command of a source is in the tree, also those in substitutions, here-documents, functions and compound commands.',
      async run(harness) {
        for (const [source, programs] of COMMANDS) {
          const { script, faults } = await parsed(harness, source);
          assert.deepEqual(faults, [], source);
          assert.deepEqual(programsIn(script).sort(), programs.split(' ').sort(), source);
        }
      },
    },
    {
      id: 'shell-grammar/quotes',
      sentence: "A word's text has its quotes taken off as the shell would.",
      async run(harness) {
        for (const [source, text] of SPELLED) {
          const word = firstWord(await parsed(harness, source));
          assert.equal(word && textOf(word), text, source);
        }
      },
    },
    {
      id: 'shell-grammar/run-time',
      sentence: 'What is expanded at run time stays an expansion and is never turned into text.',
      async run(harness) {
        for (const source of EXPANDED) {
          const word = firstWord(await parsed(harness, source));
          assert.ok(word, source);
          assert.equal(textOf(word), undefined, source);
        }
      },
    },
    {
      id: 'shell-grammar/faults',
      sentence: 'A source that is incomplete, or that shells read differently, has a fault.',
      async run(harness) {
        for (const source of UNREADABLE) assert.ok((await parsed(harness, source)).faults.length > 0, JSON.stringify(source));
        assert.ok((await parsed(harness, "a $(b 'c)")).faults.length > 0);
      },
    },
    {
      id: 'shell-grammar/limits',
      sentence: 'A source of more than MAX_SHELL_BYTES or nested deeper than MAX_SHELL_DEPTH has a fault of code limit; nothing is thrown.',
      async run(harness) {
        const long = ['a'.repeat(MAX_SHELL_BYTES + 1), 'é'.repeat(MAX_SHELL_BYTES / 2 + 1)];
        const deep = MAX_SHELL_DEPTH + 1;
        const nested = [
          `${'$('.repeat(deep)}a${')'.repeat(deep)}`,
          `${'('.repeat(deep)} a ${')'.repeat(deep)}`.replaceAll('((', '( (').replaceAll('((', '( ('),
        ];
        for (const source of [...long, ...nested]) {
          const { faults } = await parsed(harness, source);
          assert.ok(
            faults.some(({ code }) => code === 'limit'),
            source.slice(0, 40),
          );
        }
        const many = await parsed(harness, '$('.repeat(30_000));
        assert.ok(many.faults.length > 0 && many.faults.length <= 20);
        assert.deepEqual((await parsed(harness, 'a'.repeat(MAX_SHELL_BYTES))).faults, []);
        assert.deepEqual((await parsed(harness, `${'$('.repeat(20)}a${')'.repeat(20)}`)).faults, []);
      },
    },
  ],
};
