import { CancelledError } from '../../../ports/errors.ts';

/** From callbacks to a stream: what is pushed comes out in order, then the last event or the failure. */
export interface EventQueue<Event> {
  push(event: Event): void;
  end(last: Event): void;
  fail(error: Error): void;
  /** For one reader. Rejects at once when `signal` fires. */
  events(signal: AbortSignal): AsyncGenerator<Event>;
}

/** Holds what the reader has not taken yet, which the length of one answer bounds. */
export function createEventQueue<Event>(): EventQueue<Event> {
  const waiting: Event[] = [];
  let ended = false;
  let failure: Error | undefined;
  let wake = (): void => undefined;

  const close = (error?: Error): void => {
    ended = true;
    failure = error;
    wake();
  };
  return {
    push(event) {
      waiting.push(event);
      wake();
    },
    end(last) {
      waiting.push(last);
      close();
    },
    fail: close,
    async *events(signal) {
      const onAbort = (): void => wake();
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        for (;;) {
          const { promise, resolve } = Promise.withResolvers<void>();
          // Set before anything is looked at: what happens while an event is handed over must not be missed.
          wake = resolve;
          if (signal.aborted) throw new CancelledError();
          const next = waiting.shift();
          if (next !== undefined) yield next;
          else if (failure !== undefined) throw failure;
          else if (ended) return;
          else await promise;
        }
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
}
