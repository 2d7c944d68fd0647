import { setTimeout as wait } from 'node:timers/promises';
import { createSystemClock } from '../../adapters/clock/system.ts';
import type { Clock } from '../../ports/clock.ts';
import { CancelledError } from '../../ports/errors.ts';
import type { ClockHarness } from './clock.suite.ts';
import type { BrokenAdapter } from './suite.ts';

function broken(
  name: string,
  caughtBy: string,
  change: (clock: Clock) => Partial<Clock>,
  rest: Partial<ClockHarness> = {},
): BrokenAdapter<ClockHarness> {
  const make = () => {
    const clock = createSystemClock();
    return { ...clock, ...change(clock) };
  };
  const pass = (_clock: Clock, ms: number) => wait(ms);
  return { name, caughtBy: `clock/${caughtBy}`, harness: { make, pass, ...rest } };
}

/** Clocks that the suite must reject. */
export const brokenClocks: readonly BrokenAdapter<ClockHarness>[] = [
  broken('counts from its own start', 'now', () => ({ now: () => performance.now() })),
  broken('goes backwards', 'monotonic', (clock) => ({ monotonic: () => -clock.monotonic() })),
  broken('stands still', 'monotonic', () => ({ monotonic: () => 5 })),
  broken('wakes up at once', 'sleep', () => ({ sleep: async () => {} })),
  broken('does not hear the signal', 'sleep-cancelled', () => ({ sleep: () => Promise.resolve() })),
  broken('rejects with an error of its own', 'sleep-cancelled', () => ({
    sleep: (ms, signal) => wait(ms, undefined, signal === undefined ? {} : { signal }),
  })),
  broken('looks at the signal too late', 'sleep-cancelled-before', () => ({
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new CancelledError()));
        setTimeout(resolve, ms);
      }),
  })),
  broken('calls again and again', 'after', () => ({
    after(ms, run) {
      const timer = setInterval(run, ms);
      setTimeout(() => clearInterval(timer), 200).unref();
      return () => clearInterval(timer);
    },
  })),
  broken('calls at once', 'after', () => ({
    after(_ms, run) {
      run();
      return () => {};
    },
  })),
  broken('calls all the same', 'after-disposed', (clock) => ({
    after(ms, run) {
      clock.after(ms, run);
      return () => {};
    },
  })),
  broken('keeps the process alive', 'after-unref', () => ({}), { endsWithPendingTimer: async () => false }),
];
