import { createShellGrammar } from '../../adapters/shell-grammar/unbash.ts';
import type { ParsedShell, ShellParser } from '../../ports/shell-grammar.ts';
import type { ShellGrammarHarness } from './shell-grammar.suite.ts';
import type { BrokenAdapter } from './suite.ts';

function broken(name: string, caughtBy: string, spoil: (parse: ShellParser) => ShellParser): BrokenAdapter<ShellGrammarHarness> {
  const load = async () => spoil(await createShellGrammar().load());
  return { name, caughtBy: `shell-grammar/${caughtBy}`, harness: { make: () => ({ load }) } };
}

type Fields = Readonly<Record<string, unknown>>;

/** The tree with every object of it put through `change`, the inner ones first. */
function mapped(value: unknown, change: (fields: Fields) => unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => mapped(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return change(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapped(inner, change)])));
}

const treeChanged =
  (change: (fields: Fields) => unknown) =>
  (parse: ShellParser): ShellParser =>
  (source) => {
    const { script, faults } = parse(source);
    return { script: mapped(script, change) as ParsedShell['script'], faults };
  };

/** Loses what a piece of the named kind holds. */
const without = (kind: string) => treeChanged((fields) => (fields.kind === kind ? { kind: 'text', value: '', quoted: false } : fields));

const asText = (kind: string) =>
  treeChanged((fields) =>
    fields.kind === kind ? { kind: 'text', value: String(fields.name ?? fields.value ?? ''), quoted: false } : fields,
  );

const faultsWithout =
  (code: string) =>
  (parse: ShellParser): ShellParser =>
  (source) => {
    const { script, faults } = parse(source);
    return { script, faults: faults.filter((fault) => fault.code !== code) };
  };

/** Grammars that the suite must reject. */
export const brokenShellGrammars: readonly BrokenAdapter<ShellGrammarHarness>[] = [
  broken('does not look into substitutions', 'commands', without('command')),
  broken('does not look into process substitutions', 'commands', without('process')),
  broken('does not look into arithmetic', 'commands', without('arithmetic')),
  broken('does not look into functions', 'commands', without('function')),
  broken('does not look into compound commands', 'commands', without('compound')),
  broken(
    'forgets redirections',
    'commands',
    treeChanged((fields) => ('redirects' in fields ? { ...fields, redirects: [] } : fields)),
  ),
  broken('reads the first line alone', 'commands', (parse) => (source) => parse(source.split('\n')[0] ?? '')),
  broken(
    'leaves quotes on',
    'quotes',
    treeChanged((fields) => ('parts' in fields ? { ...fields, parts: [{ kind: 'text', value: fields.text, quoted: false }] } : fields)),
  ),
  broken(
    'loses what was written',
    'quotes',
    treeChanged((fields) => ('parts' in fields ? { ...fields, text: String(fields.text).replaceAll('"', '') } : fields)),
  ),
  broken('takes a variable for text', 'expansions', asText('variable')),
  broken('takes a pattern for text', 'expansions', asText('glob')),
  broken('takes braces for text', 'expansions', asText('choice')),
  broken('does not see that a source is incomplete', 'faults', faultsWithout('syntax')),
  broken('reads what is ambiguous in its own way', 'faults', faultsWithout('ambiguous')),
  broken('reads whatever is there', 'limits', faultsWithout('limit')),
  broken('throws at what is too deep', 'limits', (parse) => (source) => {
    const parsed = parse(source);
    if (parsed.faults.some(({ code }) => code === 'limit')) throw new RangeError('too deep');
    return parsed;
  }),
  broken('counts characters', 'limits', (parse) => (source) => parse(source.replaceAll('é', 'e'))),
];
