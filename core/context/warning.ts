/** The one message that tells the model what it no longer sees. Its text is also where the counts are kept. */

/** Everything that was ever trimmed from a session. */
export interface Tally {
  readonly groups: number;
  readonly results: number;
  /** At most five, sorted. */
  readonly tools: readonly string[];
}

const MAX_TOOLS = 5;
/** Names come from the model: what could be mistaken for anything but a name is not repeated. */
const PLAIN_NAME = /^[A-Za-z0-9_.:-]{1,64}$/;
const READ = /^\[Context trimmed(?: to survive)?: (\d+) message groups? dropped(?: \(calls of ([^)]*)\))?, (\d+) tool results? shortened/;

const EMPTY: Tally = { groups: 0, results: 0, tools: [] };

/** The counts of a warning; zeros when there is none. */
export function readWarning(text: string | undefined): Tally {
  const match = READ.exec(text ?? '');
  if (!match) return EMPTY;
  return { groups: Number(match[1]), results: Number(match[3]), tools: match[2]?.split(', ') ?? [] };
}

export function addToTally(
  before: Tally,
  added: { readonly groups: number; readonly results: number; readonly tools: Iterable<string> },
): Tally {
  const tools = [...new Set([...before.tools, ...[...added.tools].filter((name) => PLAIN_NAME.test(name))])].sort();
  return { groups: before.groups + added.groups, results: before.results + added.results, tools: tools.slice(0, MAX_TOOLS) };
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

export function warningText(tally: Tally, options: { readonly survival: boolean; readonly digest: boolean }): string {
  const calls = tally.tools.length > 0 ? ` (calls of ${tally.tools.join(', ')})` : '';
  const begin = options.survival ? '[Context trimmed to survive:' : '[Context trimmed:';
  const pointer = options.digest ? ' What was dropped is summed up in the digest of compacted earlier context.' : '';
  return `${begin} ${count(tally.groups, 'message group')} dropped${calls}, ${count(tally.results, 'tool result')} shortened to fit the context window.${pointer} Call a tool again for what you need in full.]`;
}

/** No warning is larger, in tokens with its message. */
export const WARNING_MAX_TOKENS = 230;
