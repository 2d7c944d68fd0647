import type { Message, ToolCall } from '../../ports/message.ts';
import type { CallKey, JournalRecord, SlotName, StoredRecord } from '../../ports/session.ts';

/** One message as the model sees it. `seq` is the journal record it comes from; 0 for a slot. */
export interface TranscriptEntry {
  readonly seq: number;
  readonly message: Message;
}

/** A call of the journal that has no result yet. */
export interface OpenCall {
  readonly key: CallKey;
  readonly call: ToolCall;
  /** It was journalled as started, so it may have had an effect. */
  readonly started: boolean;
}

export interface FoldedTranscript {
  /** In the order the model sees them: results follow their assistant message in call order. */
  readonly entries: readonly TranscriptEntry[];
  /** Slot contents as last set. They are placed by the live transcript, not by the fold. */
  readonly slots: ReadonlyMap<SlotName, string>;
  readonly open: readonly OpenCall[];
}

/** The key of a tool call (DECISIONS 7). */
export function callKey(run: string, iteration: number, index: number): CallKey {
  return `${run}/${iteration}/${index}`;
}

interface Gathered {
  readonly finished: Map<CallKey, { readonly seq: number; readonly message: Message }>;
  readonly started: Set<CallKey>;
  readonly slots: Map<SlotName, string>;
  readonly shortened: Map<number, string>;
  readonly dropped: (readonly [number, number])[];
}

function gather(records: readonly StoredRecord[]): Gathered {
  const gathered: Gathered = { finished: new Map(), started: new Set(), slots: new Map(), shortened: new Map(), dropped: [] };
  for (const { seq, record } of records) {
    if (record.kind === 'tool_finished') {
      // The first result stands: a late duplicate must not change what the model was told.
      if (!gathered.finished.has(record.key)) gathered.finished.set(record.key, { seq, message: record.message });
    } else if (record.kind === 'tool_started') {
      gathered.started.add(record.key);
    } else if (record.kind === 'slot') {
      if (record.content === null) gathered.slots.delete(record.name);
      else gathered.slots.set(record.name, record.content);
    } else if (record.kind === 'view') {
      gathered.dropped.push(...record.dropped);
      for (const { seq: target, content } of record.shortened) gathered.shortened.set(target, content);
    }
  }
  return gathered;
}

function droppedTest(ranges: readonly (readonly [number, number])[]): (seq: number) => boolean {
  if (ranges.length === 0) return () => false;
  const sorted = [...ranges].sort((a, b) => a[0] - b[0]);
  let cursor = 0;
  let reach = 0;
  // Asked with rising numbers only, so one pass over the ranges serves all records.
  return (seq) => {
    for (let range = sorted[cursor]; range !== undefined && range[0] <= seq; range = sorted[++cursor]) {
      reach = Math.max(reach, range[1]);
    }
    return seq <= reach;
  };
}

function shorten(message: Message, content: string | undefined): Message {
  return content === undefined ? message : { ...message, content };
}

/**
 * What the model sees of a journal (DECISIONS 7): messages in order, every result behind its call in
 * call order, views applied. A dropped assistant message takes its results with it, so no result is
 * ever without its call. Linear in the number of records.
 */
export function foldJournal(records: readonly StoredRecord[]): FoldedTranscript {
  const { finished, started, slots, shortened, dropped } = gather(records);
  const isDropped = droppedTest(dropped);
  const entries: TranscriptEntry[] = [];
  const open: OpenCall[] = [];
  for (const { seq, record } of records) {
    if (record.kind !== 'message') continue;
    if (isDropped(seq)) continue;
    entries.push({ seq, message: shorten(record.message, shortened.get(seq)) });
    if (record.message.role !== 'assistant') continue;
    (record.message.toolCalls ?? []).forEach((call, index) => {
      const key = callKey(record.run, record.iteration, index);
      const result = finished.get(key);
      if (result) entries.push({ seq: result.seq, message: shorten(result.message, shortened.get(result.seq)) });
      else open.push({ key, call, started: started.has(key) });
    });
  }
  return { entries, slots, open };
}

/** What the model is told of a call that an ended process left without a result. */
const UNKNOWN_OUTCOME =
  'error: outcome unknown: the process ended while this call was running. It may have taken effect, wholly or in part. Check before repeating it.';
const NEVER_STARTED = 'error: not executed: the process ended before this call was started.';

/**
 * The records that give every open call exactly one result. Appended when a session is opened, so
 * that a crash never leaves a transcript a provider would refuse.
 */
export function repairRecords(open: readonly OpenCall[]): readonly JournalRecord[] {
  return open.map(({ key, call, started }) => ({
    kind: 'tool_finished',
    key,
    durationMs: 0,
    message: {
      role: 'tool',
      callId: call.id,
      name: call.name,
      outcome: started ? 'unknown' : 'cancelled',
      content: started ? UNKNOWN_OUTCOME : NEVER_STARTED,
    },
  }));
}
