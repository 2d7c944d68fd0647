import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { callKey, foldJournal, repairRecords } from '../../../core/transcript/fold.ts';
import { createTranscript } from '../../../core/transcript/transcript.ts';
import type { Message } from '../../../ports/message.ts';
import type { JournalRecord, StoredRecord } from '../../../ports/session.ts';

function store(records: readonly JournalRecord[]): StoredRecord[] {
  return records.map((record, index) => ({ seq: index + 1, at: 0, record }));
}

const say = (message: Exclude<Message, { role: 'tool' }>, iteration = 0): JournalRecord => ({
  kind: 'message',
  run: 'r',
  iteration,
  message,
});

function assistant(iteration: number, calls: number): JournalRecord {
  const toolCalls = Array.from({ length: calls }, (_, index) => ({ id: `i${iteration}c${index}`, name: 't', arguments: '{}' }));
  return say({ role: 'assistant', content: '', ...(calls > 0 && { toolCalls }) }, iteration);
}

function started(iteration: number, index: number): JournalRecord {
  return { kind: 'tool_started', key: callKey('r', iteration, index), callId: `i${iteration}c${index}`, name: 't', arguments: '{}' };
}

function finished(iteration: number, index: number, content = 'ok'): JournalRecord {
  const message = { role: 'tool', callId: `i${iteration}c${index}`, name: 't', content, outcome: 'completed' } as const;
  return { kind: 'tool_finished', key: callKey('r', iteration, index), message, durationMs: 1 };
}

/** Every result right behind its assistant message, one a call, in call order. */
function isWellFormed(messages: readonly Message[]): boolean {
  for (let at = 0; at < messages.length; at += 1) {
    const message = messages[at];
    if (message?.role === 'tool') return false;
    if (message?.role !== 'assistant') continue;
    for (const call of message.toolCalls ?? []) {
      at += 1;
      const result = messages[at];
      if (result?.role !== 'tool' || result.callId !== call.id) return false;
    }
  }
  return true;
}

/** A plausible journal: iterations with up to four calls, finished in any order, cut anywhere. */
const journal = fc
  .array(fc.record({ calls: fc.nat(4), order: fc.infiniteStream(fc.nat()), barrier: fc.boolean() }), { maxLength: 6 })
  .chain((iterations) => {
    const records: JournalRecord[] = [say({ role: 'system', content: 's' }), say({ role: 'user', content: 'u' })];
    iterations.forEach(({ calls, order, barrier }, at) => {
      const iteration = at + 1;
      records.push(assistant(iteration, calls));
      const indices = Array.from({ length: calls }, (_, index) => index);
      const shuffled = barrier
        ? indices
        : indices
            .map((index) => ({ index, key: order.next().value }))
            .sort((a, b) => a.key - b.key)
            .map(({ index }) => index);
      if (barrier) for (const index of indices) records.push(started(iteration, index), finished(iteration, index));
      else records.push(...indices.map((index) => started(iteration, index)), ...shuffled.map((index) => finished(iteration, index)));
    });
    return fc.nat(records.length).map((cut) => records.slice(0, cut));
  });

describe('the fold of a journal', () => {
  it('puts results behind their call in call order', () => {
    const { entries } = foldJournal(store([assistant(1, 2), started(1, 0), started(1, 1), finished(1, 1, 'b'), finished(1, 0, 'a')]));
    expect(entries.map(({ message }) => message.content)).toEqual(['', 'a', 'b']);
  });

  it('tells started calls from calls that never started', () => {
    const { open } = foldJournal(store([assistant(1, 2), started(1, 0)]));
    expect(open.map(({ key, started }) => [key, started])).toEqual([
      ['r/1/0', true],
      ['r/1/1', false],
    ]);
    expect(repairRecords(open).map((record) => record.kind === 'tool_finished' && record.message.outcome)).toEqual([
      'unknown',
      'cancelled',
    ]);
  });

  it('cut at any record is repaired to exactly one result a call, and repairing again changes nothing', () => {
    fc.assert(
      fc.property(journal, (records) => {
        const repaired = [...records, ...repairRecords(foldJournal(store(records)).open)];
        const folded = foldJournal(store(repaired));
        expect(folded.open).toEqual([]);
        expect(isWellFormed(folded.entries.map(({ message }) => message))).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('loses no finished call however it is cut', () => {
    fc.assert(
      fc.property(journal, (records) => {
        const folded = foldJournal(store([...records, ...repairRecords(foldJournal(store(records)).open)]));
        const told = folded.entries.flatMap(({ message }) =>
          message.role === 'tool' && message.outcome === 'completed' ? [message.callId] : [],
        );
        const stored = records.flatMap((record) => (record.kind === 'tool_finished' ? [record.message.callId] : []));
        expect(told.sort()).toEqual(stored.sort());
      }),
      { numRuns: 300 },
    );
  });

  it('keeps the first of two results for one call', () => {
    const { entries } = foldJournal(store([assistant(1, 1), finished(1, 0, 'first'), finished(1, 0, 'second')]));
    expect(entries.map(({ message }) => message.content)).toEqual(['', 'first']);
  });

  it('drops the results of a dropped assistant message with it, and shortens what a view shortens', () => {
    const view: JournalRecord = { kind: 'view', dropped: [[2, 2]], shortened: [{ seq: 5, content: 'short' }] };
    const { entries } = foldJournal(
      store([say({ role: 'user', content: 'u' }), assistant(1, 1), finished(1, 0), assistant(2, 1), finished(2, 0, 'long'), view]),
    );
    expect(entries.map(({ message }) => [message.role, message.content])).toEqual([
      ['user', 'u'],
      ['assistant', ''],
      ['tool', 'short'],
    ]);
  });
});

describe('slots of a transcript', () => {
  const folded = foldJournal(
    store([
      say({ role: 'system', content: 'base' }),
      say({ role: 'user', content: 'task' }),
      say({ role: 'assistant', content: 'one' }),
      { kind: 'slot', name: 'plan', content: 'plan' },
      { kind: 'slot', name: 'digest', content: 'digest' },
      { kind: 'slot', name: 'memory', content: 'memory' },
    ]),
  );

  it('sit after the system prompt and after the task, in a fixed order whatever came first', () => {
    const transcript = createTranscript(folded);
    expect(transcript.messages.map((message) => message.content)).toEqual(['base', 'memory', 'task', 'digest', 'plan', 'one']);
  });

  it('are replaced in place and emptied, and the token count follows', () => {
    const transcript = createTranscript(folded);
    const before = transcript.tokens;
    transcript.setSlot('plan', 'plan two');
    expect(transcript.messages[4]?.content).toBe('plan two');
    transcript.setSlot('plan', undefined);
    expect(transcript.messages.map((message) => message.content)).toEqual(['base', 'memory', 'task', 'digest', 'one']);
    transcript.setSlot('plan', 'plan');
    expect(transcript.tokens).toBe(before);
  });

  it('puts the warning before the newest user message', () => {
    const transcript = createTranscript(folded);
    transcript.push({ role: 'user', content: 'next' }, 9);
    transcript.setSlot('warning', 'trimmed');
    expect(transcript.messages.slice(-2).map((message) => message.content)).toEqual(['trimmed', 'next']);
  });
});
