import type { WireEvent } from './event.ts';

/**
 * Where the wire events of runs go.
 *
 * Contract:
 * - `accept` is called with one event at a time, in order, and never again before the last call settled.
 * - When `accept` resolved, the event is as safe as the sink can make it.
 * - An event of an unknown type or with unknown fields is taken like any other.
 * - `close` waits for nothing but what was accepted, is idempotent, and nothing is accepted after it.
 */
export interface EventSink {
  accept(event: WireEvent): Promise<void>;
  close(): Promise<void>;
}
