import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../ports/clock.ts';
import { CancelledError } from '../../ports/errors.ts';

/** Longest delay that Node's timers take; a longer one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  // A timer may fire a fraction of a millisecond early.
  const end = performance.now() + ms;
  try {
    signal?.throwIfAborted();
    for (let left = ms; left > 0; left = end - performance.now()) {
      await wait(Math.min(Math.ceil(left), MAX_DELAY_MS), undefined, signal === undefined ? {} : { signal });
    }
  } catch (error) {
    throw new CancelledError('cancelled while waiting', { cause: error });
  }
}

function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, Math.min(Math.max(0, ms), MAX_DELAY_MS));
  timer.unref();
  return () => clearTimeout(timer);
}

/** The machine's own time. `after` is bounded to 24 days. */
export function createSystemClock(): Clock {
  return { now: () => Date.now(), monotonic: () => performance.now(), sleep, after };
}
