import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createFanOut } from '../../../core/guards/fan-out.ts';
import type { WireEvent } from '../../../ports/event.ts';
import type { EventSink } from '../../../ports/event-sink.ts';
import { createManualClock } from '../../fakes/clock.ts';
import { createMemorySink } from '../../fakes/event-sink.ts';

function event(count: number): WireEvent {
  return {
    schema: 'odek.event/v1',
    type: 'session_saved',
    run_id: '0'.repeat(32),
    timestamp: '2026-01-01T00:00:00.000Z',
    data: { message_count: count },
  };
}

const HANGING: EventSink = { accept: () => new Promise(() => {}), close: () => Promise.resolve() };
const REJECTING: EventSink = { accept: () => Promise.reject(new Error('no')), close: () => Promise.reject(new Error('no')) };
const THROWING: EventSink = {
  accept() {
    throw new Error('no');
  },
  close() {
    throw new Error('no');
  },
};

async function tick(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

describe('the fan-out', () => {
  it('gives every sink every event in order, one at a time', async () => {
    const memory = createMemorySink();
    let active = 0;
    const seen: WireEvent[] = [];
    const slow: EventSink = {
      async accept(next) {
        active += 1;
        expect(active).toBe(1);
        await tick();
        seen.push(next);
        active -= 1;
      },
      close: async () => {},
    };
    const fanOut = createFanOut(
      [
        { name: 'memory', sink: memory },
        { name: 'slow', sink: slow },
      ],
      { clock: createSystemClock() },
    );
    const events = Array.from({ length: 50 }, (_, index) => event(index));
    for (const next of events) fanOut.emit(next);
    expect(await fanOut.close()).toEqual([
      { sink: 'memory', dropped: 0, failed: 0 },
      { sink: 'slow', dropped: 0, failed: 0 },
    ]);
    expect(memory.events).toEqual(events);
    expect(seen).toEqual(events);
    expect(memory.closed).toBe(true);
  });

  it('keeps a hanging, a rejecting and a throwing sink from harming another, and tells what each lost', async () => {
    const clock = createManualClock();
    const memory = createMemorySink();
    const told: [string, number][] = [];
    const sinks = [
      { name: 'hanging', sink: HANGING },
      { name: 'rejecting', sink: REJECTING },
      { name: 'throwing', sink: THROWING },
      { name: 'memory', sink: memory },
    ];
    const fanOut = createFanOut(sinks, { clock, queueLimit: 4, closeTimeoutMs: 500, onDropped: (sink, count) => told.push([sink, count]) });
    for (let count = 0; count < 10; count += 1) {
      fanOut.emit(event(count));
      await tick();
    }
    const reports = fanOut.close();
    await clock.advance(500);
    expect(await reports).toEqual([
      { sink: 'hanging', dropped: 10, failed: 0 },
      { sink: 'rejecting', dropped: 0, failed: 11 },
      { sink: 'throwing', dropped: 0, failed: 11 },
      { sink: 'memory', dropped: 0, failed: 0 },
    ]);
    expect(told).toEqual([
      ['hanging', 10],
      ['rejecting', 11],
      ['throwing', 11],
    ]);
    expect(memory.events).toHaveLength(10);
  });

  it('drops new events when a queue is full and counts them', async () => {
    const memory = createMemorySink();
    const fanOut = createFanOut([{ name: 'memory', sink: memory }], { clock: createSystemClock(), queueLimit: 5 });
    for (let count = 0; count < 9; count += 1) fanOut.emit(event(count));
    expect(await fanOut.close()).toEqual([{ sink: 'memory', dropped: 3, failed: 0 }]);
    expect(memory.events.map((kept) => (kept.data as { message_count: number }).message_count)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('goes on with a sink that failed once', async () => {
    const memory = createMemorySink();
    let calls = 0;
    const flaky: EventSink = {
      ...memory,
      accept(next) {
        calls += 1;
        return calls === 1 ? Promise.reject(new Error('once')) : memory.accept(next);
      },
    };
    const fanOut = createFanOut([{ name: 'flaky', sink: flaky }], { clock: createSystemClock() });
    for (let count = 0; count < 3; count += 1) fanOut.emit(event(count));
    expect(await fanOut.close()).toEqual([{ sink: 'flaky', dropped: 0, failed: 1 }]);
    expect(memory.events).toHaveLength(2);
  });

  it('closes once, and ignores events after that', async () => {
    const memory = createMemorySink();
    const fanOut = createFanOut([{ name: 'memory', sink: memory }], { clock: createSystemClock() });
    const first = fanOut.close();
    fanOut.emit(event(1));
    expect(fanOut.close()).toBe(first);
    await first;
    expect(memory.events).toEqual([]);
  });

  it('survives a listener that throws', async () => {
    const fanOut = createFanOut([{ name: 'throwing', sink: THROWING }], {
      clock: createSystemClock(),
      onDropped() {
        throw new Error('no');
      },
    });
    fanOut.emit(event(1));
    expect(await fanOut.close()).toEqual([{ sink: 'throwing', dropped: 0, failed: 2 }]);
  });

  it('hands on two hundred thousand events within seconds', async () => {
    const memory = createMemorySink();
    const fanOut = createFanOut([{ name: 'memory', sink: memory }], { clock: createSystemClock() });
    const start = performance.now();
    for (let count = 0; count < 200_000; count += 1) {
      fanOut.emit(event(count));
      if (count % 500 === 499) await tick();
    }
    expect(await fanOut.close()).toEqual([{ sink: 'memory', dropped: 0, failed: 0 }]);
    expect(memory.events).toHaveLength(200_000);
    expect(performance.now() - start).toBeLessThan(10_000);
  });
});
