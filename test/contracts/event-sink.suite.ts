import assert from 'node:assert/strict';
import type { WireEvent } from '../../ports/event.ts';
import type { EventSink } from '../../ports/event-sink.ts';
import type { ContractSuite } from './suite.ts';

export interface EventSinkSubject {
  readonly sink: EventSink;
  /** Every event the sink has made safe so far, in order, read from where it ends up and not from the sink's own memory. */
  stored(): Promise<readonly unknown[]>;
}

export interface EventSinkHarness {
  /** A new, empty place and a sink to it. */
  make(): Promise<EventSinkSubject>;
}

function event(count: number): WireEvent {
  return {
    schema: 'odek.event/v1',
    type: 'session_saved',
    run_id: '0123456789abcdef0123456789abcdef',
    session_id: 'line\nbreak \u2028 "quoted" é 😀',
    timestamp: '2026-01-01T00:00:00.000Z',
    data: { message_count: count },
  };
}

const EVENTS = Array.from({ length: 20 }, (_, index) => event(index));

async function acceptAll({ sink }: EventSinkSubject, events: readonly WireEvent[]): Promise<void> {
  for (const next of events) await sink.accept(next);
}

/** What every {@link EventSink} keeps. */
export const eventSinkSuite: ContractSuite<EventSinkHarness> = {
  port: 'event-sink',
  cases: [
    {
      id: 'event-sink/in-order',
      sentence: 'Events arrive whole and in order.',
      async run({ make }) {
        const subject = await make();
        await acceptAll(subject, EVENTS);
        await subject.sink.close();
        assert.deepEqual(await subject.stored(), EVENTS);
      },
    },
    {
      id: 'event-sink/safe-when-resolved',
      sentence: 'When accept resolved, the event is as safe as the sink can make it.',
      async run({ make }) {
        const subject = await make();
        await subject.sink.accept(event(1));
        assert.deepEqual(await subject.stored(), [event(1)]);
        await subject.sink.close();
      },
    },
    {
      id: 'event-sink/unknown',
      sentence: 'An event of an unknown type or with unknown fields is taken like any other.',
      async run({ make }) {
        const subject = await make();
        const novel = [
          { ...event(1), type: 'novel', data: { deep: [{ er: null }] } },
          { ...event(2), novel: true },
        ] as unknown as WireEvent[];
        await acceptAll(subject, novel);
        await subject.sink.close();
        assert.deepEqual(await subject.stored(), novel);
      },
    },
    {
      id: 'event-sink/close-idempotent',
      sentence: 'close is idempotent.',
      async run({ make }) {
        const { sink } = await make();
        await sink.accept(event(1));
        await Promise.all([sink.close(), sink.close()]);
        await sink.close();
      },
    },
    {
      id: 'event-sink/close-waits',
      sentence: 'close waits for what was accepted.',
      async run({ make }) {
        const subject = await make();
        const accepting = subject.sink.accept(event(1));
        const stored = subject.sink.close().then(() => subject.stored());
        await accepting;
        assert.deepEqual(await stored, [event(1)]);
      },
    },
    {
      id: 'event-sink/nothing-after-close',
      sentence: 'Nothing is accepted after close.',
      async run({ make }) {
        const subject = await make();
        await subject.sink.accept(event(1));
        await subject.sink.close();
        await assert.rejects(async () => subject.sink.accept(event(2)));
        assert.deepEqual(await subject.stored(), [event(1)]);
      },
    },
  ],
};
