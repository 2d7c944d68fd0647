/** Stores what a trim decided in one commit, then makes the transcript follow. */
import type { SystemMessage } from '../../ports/message.ts';
import type { JournalRecord, SlotName } from '../../ports/session.ts';
import type { RunState } from '../agent/state.ts';
import type { TranscriptEntry } from '../transcript/fold.ts';
import type { Group } from './layout.ts';
import type { Trim } from './trim.ts';

export interface Change {
  readonly trim: Trim;
  readonly slots: readonly (readonly [name: SlotName, content: string])[];
  /** Added at the end. */
  readonly message?: SystemMessage;
}

/** Neighbouring groups as inclusive ranges of journal numbers. A call's results go with it, so the message records decide. */
function ranges(entries: readonly TranscriptEntry[], dropped: readonly Group[]): readonly (readonly [number, number])[] {
  const found: [number, number][] = [];
  let end = -1;
  for (const group of dropped) {
    const seq = entries[group.index]?.seq ?? 0;
    const last = found.at(-1);
    if (last && group.index === end) last[1] = seq;
    else found.push([seq, seq]);
    end = group.index + group.count;
  }
  return found;
}

/** The records of a change, in one commit: a resume sees all of it or nothing. */
function recordsOf(state: RunState, { trim, slots, message }: Change): readonly JournalRecord[] {
  const shortened = trim.shortened.map(({ seq, content }) => ({ seq, content }));
  const dropped = ranges(state.transcript.entries, trim.dropped);
  const isViewed = shortened.length > 0 || dropped.length > 0;
  return [
    ...(message ? [{ kind: 'message', run: state.runId, iteration: state.iteration, message } as const] : []),
    ...(isViewed ? [{ kind: 'view', dropped, shortened } as const] : []),
    ...slots.map(([name, content]) => ({ kind: 'slot', name, content }) as const),
  ];
}

export async function commitChange(state: RunState, change: Change): Promise<void> {
  const records = recordsOf(state, change);
  if (records.length === 0) return;
  const seq = await state.journal.append(records);
  const { transcript } = state;
  for (const { index, content } of change.trim.shortened) transcript.shorten(index, content);
  for (const group of change.trim.dropped.toReversed()) transcript.remove(group.index, group.count);
  for (const [name, content] of change.slots) transcript.setSlot(name, content);
  if (change.message) transcript.push(change.message, seq);
}
