import type { Clock } from '../../ports/clock.ts';
import type { WireEvent } from '../../ports/event.ts';
import type { EventSink } from '../../ports/event-sink.ts';

interface NamedSink {
  readonly name: string;
  readonly sink: EventSink;
}

/** What one sink lost. `dropped` never reached it, or it had not confirmed them in time; `failed` it rejected. */
interface SinkReport {
  readonly sink: string;
  readonly dropped: number;
  readonly failed: number;
}

export interface FanOut {
  /** Hands the event to every sink's queue and returns at once. Never throws. Ignored after `close`. */
  emit(event: WireEvent): void;
  /** Delivers what is queued, closes the sinks, and tells what was lost. Bounded by `closeTimeoutMs` in all. Idempotent, never rejects. */
  close(): Promise<readonly SinkReport[]>;
}

const QUEUE_LIMIT = 1024;
const CLOSE_TIMEOUT_MS = 2000;

interface Lane {
  push(event: WireEvent): void;
  /** Resolves when everything is delivered and the sink is closed. */
  drain(): Promise<void>;
  /** Gives up what is left and tells the losses. */
  report(): SinkReport;
}

function createLane({ name, sink }: NamedSink, queueLimit: number): Lane {
  let queue: WireEvent[] = [];
  let head = 0;
  let inFlight = 0;
  let dropped = 0;
  let failed = 0;
  let busy = false;
  let idle: Promise<void> = Promise.resolve();

  function next(): WireEvent | undefined {
    const event = queue[head];
    head += 1;
    if (head > queueLimit) {
      queue = queue.slice(head);
      head = 0;
    }
    return event;
  }

  async function pump(): Promise<void> {
    for (let event = next(); event !== undefined; event = next()) {
      inFlight = 1;
      try {
        await sink.accept(event);
      } catch {
        failed += 1;
      }
      inFlight = 0;
    }
    queue = [];
    head = 0;
    busy = false;
  }

  return {
    push(event) {
      if (queue.length - head >= queueLimit) {
        dropped += 1;
        return;
      }
      queue.push(event);
      if (busy) return;
      busy = true;
      idle = pump();
    },
    async drain() {
      while (busy) await idle;
      try {
        await sink.close();
      } catch {
        failed += 1;
      }
    },
    report() {
      const left = queue.length - head + inFlight;
      queue = [];
      head = 0;
      inFlight = 0;
      return { sink: name, dropped: dropped + left, failed };
    },
  };
}

/**
 * One stream of events to many sinks. Each sink has a queue of its own (`queueLimit` events, 1024 by
 * default): when it is full, new events are dropped for that sink alone and counted. A sink that is
 * slow, hangs, rejects or throws harms neither the run nor another sink.
 *
 * `onDropped` is called once a sink that lost events, at `close`, with events both dropped and failed.
 */
export function createFanOut(
  sinks: readonly NamedSink[],
  options: {
    readonly clock: Clock;
    readonly queueLimit?: number;
    readonly onDropped?: (sink: string, count: number) => void;
    /** 2000 by default. */
    readonly closeTimeoutMs?: number;
  },
): FanOut {
  const { clock, queueLimit = QUEUE_LIMIT, onDropped, closeTimeoutMs = CLOSE_TIMEOUT_MS } = options;
  const lanes = sinks.map((sink) => createLane(sink, queueLimit));
  let closing: Promise<readonly SinkReport[]> | undefined;

  function tell(sink: string, count: number): void {
    try {
      onDropped?.(sink, count);
    } catch {
      // A listener's fault must not keep the others from being told.
    }
  }

  async function closeAll(): Promise<readonly SinkReport[]> {
    const enough = new AbortController();
    const drained = Promise.all(lanes.map((lane) => lane.drain()));
    await Promise.race([drained, clock.sleep(closeTimeoutMs, enough.signal).catch(() => {})]);
    enough.abort();
    const reports = lanes.map((lane) => lane.report());
    for (const { sink, dropped, failed } of reports) {
      if (dropped + failed > 0) tell(sink, dropped + failed);
    }
    return reports;
  }

  return {
    emit(event) {
      if (closing === undefined) for (const lane of lanes) lane.push(event);
    },
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}
