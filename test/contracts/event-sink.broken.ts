import type { WireEvent } from '../../ports/event.ts';
import type { EventSink } from '../../ports/event-sink.ts';
import type { EventSinkHarness } from './event-sink.suite.ts';
import type { BrokenAdapter } from './suite.ts';

interface Place {
  readonly events: WireEvent[];
  closed: boolean;
}

function wellBehaved(place: Place): EventSink {
  return {
    async accept(event) {
      if (place.closed) throw new Error('closed');
      place.events.push(event);
    },
    async close() {
      place.closed = true;
    },
  };
}

function broken(
  name: string,
  caughtBy: string,
  change: (place: Place, inner: EventSink) => Partial<EventSink>,
): BrokenAdapter<EventSinkHarness> {
  const make = async () => {
    const place: Place = { events: [], closed: false };
    const inner = wellBehaved(place);
    return { sink: { ...inner, ...change(place, inner) }, stored: async () => [...place.events] };
  };
  return { name, caughtBy: `event-sink/${caughtBy}`, harness: { make } };
}

/** Sinks that the suite must reject. */
export const brokenEventSinks: readonly BrokenAdapter<EventSinkHarness>[] = [
  broken('puts the newest first', 'in-order', ({ events }) => ({ accept: async (event) => void events.unshift(event) })),
  broken('splits text at its line breaks', 'in-order', (_place, inner) => ({
    accept: (event) => inner.accept({ ...event, session_id: event.session_id?.split('\n')[0] } as WireEvent),
  })),
  broken('keeps events in memory until it is closed', 'safe-when-resolved', ({ events }) => {
    const waiting: WireEvent[] = [];
    return {
      accept: async (event) => void waiting.push(event),
      close: async () => void events.push(...waiting.splice(0)),
    };
  }),
  broken('takes known types only', 'unknown', (_place, inner) => ({
    accept: async (event) => (event.type === 'session_saved' && !('novel' in event) ? inner.accept(event) : undefined),
  })),
  broken('fails when closed twice', 'close-idempotent', (place) => ({
    async close() {
      if (place.closed) throw new Error('closed already');
      place.closed = true;
    },
  })),
  broken('closes before the last event is written', 'close-waits', ({ events }) => ({
    async accept(event) {
      await new Promise((resolve) => setImmediate(resolve));
      events.push(event);
    },
  })),
  broken('goes on after close', 'nothing-after-close', ({ events }) => ({ accept: async (event) => void events.push(event) })),
];
