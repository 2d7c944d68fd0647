/** A digest as lists of one-line notes under fixed headings, so that an old one can be extended. */
import { utf8Head, utf8Length } from '../results/utf8.ts';

const SECTIONS = ['Task', 'Done', 'Decisions', 'Files and symbols', 'Errors still open', 'Next'] as const;
export type SectionName = (typeof SECTIONS)[number];
export type Digest = Readonly<Record<SectionName, readonly string[]>>;

/** The outline a model is asked to fill in. */
export const DIGEST_OUTLINE = SECTIONS.map((name) => `${name}:`).join('\n');

/** Shares of the bytes; what is left over pays for headings and bullets. */
const SHARES: Readonly<Record<SectionName, number>> = {
  Task: 0.14,
  Done: 0.27,
  Decisions: 0.25,
  'Files and symbols': 0.1,
  'Errors still open': 0.12,
  Next: 0.07,
};
const MAX_NOTE_BYTES = 300;
const BULLET_BYTES = 3;

/** Matches a heading however a model decorates it; what follows the colon is its first note. */
const HEADING = /^(?:#{1,6}\s*)?(?:\*\*)?(task|done|decisions|files|errors|next)\b[^:]{0,24}:(?:\*\*)?\s*(.*)$/i;

export const EMPTY_DIGEST: Digest = {
  Task: [],
  Done: [],
  Decisions: [],
  'Files and symbols': [],
  'Errors still open': [],
  Next: [],
};

/** One line, at most 300 bytes. */
export function note(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return utf8Length(line) <= MAX_NOTE_BYTES ? line : `${utf8Head(line, MAX_NOTE_BYTES - 3)}…`;
}

function sectionFor(word: string): SectionName {
  return SECTIONS.find((name) => name.toLowerCase().startsWith(word.toLowerCase())) ?? 'Done';
}

/** Reads any text; lines under no heading count as done. */
export function parseDigest(text: string): Digest {
  const lists = new Map<SectionName, string[]>(SECTIONS.map((name) => [name, []]));
  let current: SectionName = 'Done';
  for (const raw of text.split('\n')) {
    const heading = HEADING.exec(raw.trim());
    if (heading) current = sectionFor(heading[1] ?? '');
    const line = note(heading ? (heading[2] ?? '') : raw.trim().replace(/^[-*•]\s+/, ''));
    if (line !== '') lists.get(current)?.push(line);
  }
  return Object.fromEntries(lists) as unknown as Digest;
}

/** Each note once, where it was said last. */
function newestOnce(notes: readonly string[]): readonly string[] {
  return [...new Set(notes.toReversed())].reverse();
}

/** `later` behind `earlier`. What was done since is no open error any more, and only the newest outlook counts. */
export function mergeDigests(earlier: Digest, later: Digest): Digest {
  const isSolved = (error: string): boolean => later.Done.some((done) => error.startsWith(`${done}: `));
  const joined = (name: SectionName): readonly string[] => newestOnce([...earlier[name], ...later[name]]);
  return {
    Task: joined('Task'),
    Done: joined('Done'),
    Decisions: joined('Decisions'),
    'Files and symbols': joined('Files and symbols'),
    'Errors still open': newestOnce([...earlier['Errors still open'].filter((error) => !isSolved(error)), ...later['Errors still open']]),
    Next: later.Next.length > 0 ? later.Next : earlier.Next,
  };
}

/** The newest notes that fit. */
function fitting(notes: readonly string[], maxBytes: number): readonly string[] {
  let bytes = 0;
  let from = notes.length;
  while (from > 0) {
    bytes += utf8Length(notes[from - 1] ?? '') + BULLET_BYTES;
    if (bytes > maxBytes) break;
    from -= 1;
  }
  return notes.slice(from);
}

/** At most `maxBytes`; where a section is too long its oldest notes go. Empty when there is nothing to say. */
export function renderDigest(digest: Digest, maxBytes: number): string {
  const parts = SECTIONS.flatMap((name) => {
    const notes = fitting(digest[name], Math.floor(maxBytes * SHARES[name]));
    return notes.length === 0 ? [] : [`${name}:`, ...notes.map((each) => `- ${each}`)];
  });
  return utf8Head(parts.join('\n'), maxBytes);
}
