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
          if (signal.aborted) throw new CancelledError();
          yield* waiting.splice(0);
          if (waiting.length > 0) continue;
          if (failure !== undefined) throw failure;
          if (ended) return;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      } finally {
        signal.removeEventListener('abort', onAbort);
      }
    },
  };
}
