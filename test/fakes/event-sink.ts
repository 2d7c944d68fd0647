import type { WireEvent, WireType } from '../../ports/event.ts';
import type { EventSink } from '../../ports/event-sink.ts';

export interface MemorySink extends EventSink {
  readonly events: readonly WireEvent[];
  readonly closed: boolean;
  of<T extends WireType>(type: T): Extract<WireEvent, { type: T }>[];
}

/** Keeps events in memory. */
export function createMemorySink(): MemorySink {
  const events: WireEvent[] = [];
  let closed = false;
  return {
    events,
    get closed() {
      return closed;
    },
    of: <T extends WireType>(type: T) => events.filter((event): event is Extract<WireEvent, { type: T }> => event.type === type),
    async accept(event) {
      if (closed) throw new Error('the sink is closed');
      events.push(event);
    },
    async close() {
      closed = true;
    },
  };
}
