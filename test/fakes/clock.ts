import type { Clock } from '../../ports/clock.ts';
import { CancelledError } from '../../ports/errors.ts';

export interface ManualClock extends Clock {
  /** Moves time forward, runs everything that became due in order of its time, and lets promises settle in between. */
  advance(ms: number): Promise<void>;
  /** Sleeps and timers that wait. */
  pending(): number;
}

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** Promise chains as long as this settle between two timers. */
const SETTLE_TURNS = 20;

async function settle(): Promise<void> {
  for (let turn = 0; turn < SETTLE_TURNS; turn += 1) await Promise.resolve();
}

/** A clock that stands still until told to move. `start` is what `now` says first. */
export function createManualClock(start = Date.UTC(2026, 0, 1)): ManualClock {
  const timers = new Set<Timer>();
  let elapsed = 0;

  function schedule(ms: number, run: () => void): () => void {
    const timer = { at: elapsed + Math.max(0, ms), run };
    timers.add(timer);
    return () => void timers.delete(timer);
  }

  function nextDue(end: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of timers) if (timer.at <= end && (first === undefined || timer.at < first.at)) first = timer;
    return first;
  }

  return {
    now: () => start + elapsed,
    monotonic: () => elapsed,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(new CancelledError('cancelled while waiting'));
        const cancel = () => {
          dispose();
          reject(new CancelledError('cancelled while waiting'));
        };
        const dispose = schedule(ms, () => {
          signal?.removeEventListener('abort', cancel);
          resolve();
        });
        signal?.addEventListener('abort', cancel, { once: true });
      });
    },
    after: schedule,
    async advance(ms) {
      const end = elapsed + ms;
      await settle();
      for (let timer = nextDue(end); timer !== undefined; timer = nextDue(end)) {
        timers.delete(timer);
        elapsed = timer.at;
        timer.run();
        await settle();
      }
      elapsed = end;
    },
    pending: () => timers.size,
  };
}
