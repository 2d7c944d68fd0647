/** Decides what a trim takes away. Nothing is changed here. */
import { estimateMessage } from '../budget/estimate.ts';
import { utf8Length } from '../results/utf8.ts';
import type { TranscriptEntry } from '../transcript/fold.ts';
import { type Group, type Layout, layoutOf } from './layout.ts';

/** A tool result whose text is replaced. */
export interface Shortening {
  readonly index: number;
  readonly seq: number;
  readonly content: string;
  /** Tokens. */
  readonly saved: number;
}

export interface Trim {
  /** Ascending, none of them within a dropped group. */
  readonly shortened: readonly Shortening[];
  /** Ascending. */
  readonly dropped: readonly Group[];
  /** Tokens. */
  readonly saved: number;
}

const SHORTEN_ABOVE_BYTES = 2000;
const NEWEST_RESULTS = 4;
/** Complete tool groups that survive a refusal. */
const SURVIVING_GROUPS = 2;

/** Whether there is anything to do. */
export function isTrim(trim: Trim): boolean {
  return trim.shortened.length > 0 || trim.dropped.length > 0;
}

function shorteningOf({ seq, message }: TranscriptEntry, index: number): Shortening | undefined {
  if (message.role !== 'tool') return undefined;
  const bytes = utf8Length(message.content);
  if (bytes <= SHORTEN_ABOVE_BYTES) return undefined;
  const content = `[tool output trimmed: ${bytes} bytes dropped to fit context budget]`;
  return { index, seq, content, saved: estimateMessage(message) - estimateMessage({ ...message, content }) };
}

/** Long results from `from` up to `to`. */
function longResults(entries: readonly TranscriptEntry[], from: number, to: number): readonly Shortening[] {
  const found: Shortening[] = [];
  for (let index = from; index < to; index += 1) {
    const entry = entries[index];
    const shortening = entry && shorteningOf(entry, index);
    if (shortening) found.push(shortening);
  }
  return found;
}

/** Where the newest results begin, or the newest turn where that is earlier. */
function recentResults(entries: readonly TranscriptEntry[], layout: Layout): number {
  let left = NEWEST_RESULTS;
  for (let index = entries.length - 1; index >= 0; index -= 1) {
    if (entries[index]?.message.role !== 'tool') continue;
    left -= 1;
    if (left === 0) return Math.min(index, layout.newestTurn);
  }
  return 0;
}

function combine(shortened: readonly Shortening[], dropped: readonly Group[]): Trim {
  const isGone = (index: number): boolean => dropped.some((group) => index >= group.index && index < group.index + group.count);
  const kept = shortened.filter(({ index }) => !isGone(index));
  const saved = kept.reduce((sum, each) => sum + each.saved, 0) + dropped.reduce((sum, group) => sum + group.tokens, 0);
  return { shortened: kept, dropped, saved };
}

/** Tokens to save. */
export interface Saving {
  /** By shortening results alone; where that falls short, groups are dropped. */
  readonly enough: number;
  /** Once groups are dropped, everything that this adds elsewhere included. */
  readonly target: number;
}

/** The two passes of RUNTIME-FACTS 1.4: long results but the newest become a line, then the oldest groups go. */
export function planTrim(entries: readonly TranscriptEntry[], saving: Saving): Trim {
  const layout = layoutOf(entries);
  const shortened = longResults(entries, 0, recentResults(entries, layout));
  const byIndex = new Map(shortened.map((each) => [each.index, each.saved]));
  const savedByShortening = shortened.reduce((sum, each) => sum + each.saved, 0);
  if (savedByShortening >= saving.enough) return combine(shortened, []);
  let left = saving.target - savedByShortening;
  const dropped: Group[] = [];
  for (const group of layout.groups) {
    if (left <= 0) break;
    dropped.push(group);
    left -= group.tokens;
    // What shortening had already saved inside the group is not saved twice.
    for (let index = group.index; index < group.index + group.count; index += 1) left += byIndex.get(index) ?? 0;
  }
  return combine(shortened, dropped);
}

/** Everything but the head, the newest turn and the last two complete tool groups with the hints before them (1.5). */
function planSurvival(entries: readonly TranscriptEntry[], layout: Layout): Trim {
  const newest = entries[layout.newestTurn]?.message;
  const isCalling = newest?.role === 'assistant' && Boolean(newest.toolCalls?.length);
  let spare = isCalling ? SURVIVING_GROUPS - 1 : SURVIVING_GROUPS;
  let carriesHints = isCalling;
  const dropped: Group[] = [];
  for (const group of layout.groups.toReversed()) {
    const isHint = entries[group.index]?.message.role === 'system';
    if (group.calls && spare > 0) {
      spare -= 1;
      carriesHints = true;
    } else if (!(isHint && carriesHints)) {
      carriesHints = false;
      dropped.push(group);
    }
  }
  return combine([], dropped.reverse());
}

/** What is tried, in this order, when a request was refused or would not fit at all. */
export function survivalSteps(entries: readonly TranscriptEntry[]): readonly Trim[] {
  const layout = layoutOf(entries);
  return [
    planSurvival(entries, layout),
    combine(longResults(entries, 0, layout.newestTurn), []),
    combine(longResults(entries, layout.newestTurn, entries.length), []),
  ];
}

/** A refused request of so few messages has nothing that could go. */
export const FEWEST_TO_SURVIVE = 3;
