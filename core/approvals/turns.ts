import { CancelledError } from '../../ports/errors.ts';

/** Lets one piece of work run at a time, in the order it was asked for. */
export interface Turns {
  /** Waits for its turn, then runs `work`. Rejects with `CancelledError` at once when `signal` fires while it waits. */
  take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve();
  return {
    async take(signal, work) {
      const before = last;
      const done = Promise.withResolvers<void>();
      last = before.then(() => done.promise);
      try {
        await untilAborted(before, signal);
        return await work();
      } finally {
        done.resolve();
      }
    },
  };
}

async function untilAborted(wait: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(new CancelledError());
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    await Promise.race([wait, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
