import type { ParsedShell, ShellGrammar, ShellNode, ShellScript, ShellWord } from '../../ports/shell-grammar.ts';
import { createSmallGrammar } from '../fakes/shell-grammar.ts';
import type { ShellGrammarHarness } from './shell-grammar.suite.ts';
import type { BrokenAdapter } from './suite.ts';

function broken(
  name: string,
  caughtBy: string,
  change: (parsed: ParsedShell, source: string) => ParsedShell,
): BrokenAdapter<ShellGrammarHarness> {
  const make = (): ShellGrammar => ({
    async load() {
      const parse = await createSmallGrammar().load();
      return (source) => change(parse(source), source);
    },
  });
  return { name, caughtBy: `shell-grammar/${caughtBy}`, harness: { make } };
}

/** The same tree with every word changed. */
function withWords(script: ShellScript, change: (word: ShellWord) => ShellWord): ShellScript {
  const node = (each: ShellNode): ShellNode => (each.kind === 'simple' ? { ...each, words: each.words.map(change) } : each);
  return { statements: script.statements.map((statement) => ({ ...statement, node: node(statement.node) })) };
}

const asWritten = (word: ShellWord): ShellWord => ({ ...word, parts: [{ kind: 'text', value: word.text, quoted: false }] });
const withoutNested = (word: ShellWord): ShellWord => ({
  ...word,
  parts: word.parts.map((part) => (part.kind === 'command' ? { ...part, script: { statements: [] } } : part)),
});
const keepsQuotes = (word: ShellWord): ShellWord => (/['"\\]/.test(word.text) ? asWritten(word) : word);
const resolves = (word: ShellWord): ShellWord => ({
  ...word,
  parts: word.parts.map((part) => (part.kind === 'variable' ? { kind: 'text', value: '', quoted: false } : part)),
});

/** Grammars that the suite must reject. */
export const brokenShellGrammars: readonly BrokenAdapter<ShellGrammarHarness>[] = [
  broken('does not look into substitutions', 'commands', ({ script, faults }) => ({ script: withWords(script, withoutNested), faults })),
  broken('drops what follows the first command', 'commands', ({ script, faults }) => ({
    script: { statements: script.statements.slice(0, 1) },
    faults,
  })),
  broken('keeps quotes', 'quotes', ({ script, faults }) => ({ script: withWords(script, keepsQuotes), faults })),
  broken('takes a variable for an empty text', 'run-time', ({ script, faults }) => ({ script: withWords(script, resolves), faults })),
  broken('reads what it can and says nothing', 'faults', ({ script }) => ({ script, faults: [] })),
  broken('calls every fault a matter of syntax', 'limits', ({ script, faults }) => ({
    script,
    faults: faults.map((fault) => ({ ...fault, code: 'syntax' as const })),
  })),
  broken('throws on what is too long', 'limits', (parsed, source) => {
    if (source.length > 60_000) throw new RangeError('too long');
    return parsed;
  }),
];
