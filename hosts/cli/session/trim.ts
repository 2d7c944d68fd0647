import { foldJournal, type TranscriptEntry } from '../../../core/transcript/fold.ts';
import type { JournalRecord, StoredRecord } from '../../../ports/session.ts';
import { EXIT } from '../exit-codes.ts';
import { type SessionCommand, UsageError } from './deps.ts';

const MIN_KEPT = 2;

/** What a trim does: the view that hides the dropped messages, and how many the model sees before and after. */
export interface Trim {
  readonly before: number;
  readonly after: number;
  /** Absent when there is nothing to drop. */
  readonly view?: JournalRecord;
}

/** The first entry of the tail. A result never stands without the message that called it. */
function cutAt(entries: readonly TranscriptEntry[], wanted: number): number {
  const forward = entries.findIndex(({ message }, index) => index >= wanted && message.role !== 'tool');
  if (forward !== -1) return forward;
  // The last group alone is larger than what may stay: it stays whole.
  return entries.findLastIndex(({ message }) => message.role !== 'tool');
}

/** Keeps the leading system messages and the newest others, `keep` in all, rounded to whole groups of calls and results. */
export function planTrim(records: readonly StoredRecord[], keep: number): Trim {
  const { entries } = foldJournal(records);
  const before = entries.length;
  const firstOther = entries.findIndex(({ message }) => message.role !== 'system');
  const system = firstOther === -1 ? before : firstOther;
  if (before <= keep) return { before, after: before };
  const cut = cutAt(entries, Math.max(before - (keep - system), system));
  const first = entries[system];
  const kept = entries[cut];
  if (first === undefined || kept === undefined || cut <= system) return { before, after: before };
  return {
    before,
    after: before - (cut - system),
    view: { kind: 'view', dropped: [[first.seq, kept.seq - 1]], shortened: [] },
  };
}

/** `session trim <id> <n>`: hides all but the newest messages from the model. The journal keeps everything. */
export const trim: SessionCommand = async (args, { store, out }) => {
  const [id, count] = args;
  if (id === undefined || count === undefined || args.length > 2)
    throw new UsageError('session trim takes an id and a number of messages to keep');
  const keep = /^\d{1,9}$/.test(count) ? Number(count) : Number.NaN;
  if (!(keep >= MIN_KEPT))
    throw new UsageError(`session trim keeps at least ${MIN_KEPT} messages, a whole number; got ${JSON.stringify(count)}`);
  const writer = await store.open(id, { waitMs: 0 }, new AbortController().signal);
  try {
    const { before, after, view } = planTrim(writer.records, keep);
    if (view !== undefined) await writer.append([view]);
    out(`Trimmed session ${id}: ${before} → ${after} messages (${before - after} dropped)`);
  } finally {
    await writer.close();
  }
  return EXIT.ok;
};
