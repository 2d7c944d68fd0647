import assert from 'node:assert/strict';
import type { Clock } from '../../ports/clock.ts';
import { hasCode } from '../../ports/errors.ts';
import type { ContractSuite } from './suite.ts';

export interface ClockHarness {
  make(): Clock;
  /** Lets about `ms` milliseconds of this clock's time pass. */
  pass(clock: Clock, ms: number): Promise<void>;
  /** Runs `run` with a clock as the only thing in a process, and tells whether the process ended by itself soon. Absent: not applicable. */
  endsWithPendingTimer?(): Promise<boolean>;
}

function cancelled(error: unknown): boolean {
  return hasCode(error, 'cancelled');
}

/** What every {@link Clock} keeps. */
export const clockSuite: ContractSuite<ClockHarness> = {
  port: 'clock',
  cases: [
    {
      id: 'clock/now',
      sentence: 'now is milliseconds since the Unix epoch.',
      async run({ make }) {
        const year = new Date(make().now()).getUTCFullYear();
        assert.ok(year >= 2020 && year < 2200, `the year is ${year}`);
      },
    },
    {
      id: 'clock/monotonic',
      sentence: 'monotonic never goes backwards, and moves on.',
      async run({ make, pass }) {
        const clock = make();
        const first = clock.monotonic();
        let last = first;
        for (let reading = 0; reading < 1000; reading += 1) {
          const next = clock.monotonic();
          assert.ok(next >= last);
          last = next;
        }
        await pass(clock, 20);
        assert.ok(clock.monotonic() - first >= 10);
      },
    },
    {
      id: 'clock/sleep',
      sentence: 'sleep resolves after at least the time asked for.',
      async run({ make, pass }) {
        const clock = make();
        const start = clock.monotonic();
        let end: number | undefined;
        const slept = clock.sleep(30).then(() => {
          end = clock.monotonic();
        });
        await pass(clock, 40);
        await slept;
        assert.ok(end !== undefined && end - start >= 30, `it slept ${(end ?? 0) - start} ms`);
      },
    },
    {
      id: 'clock/sleep-cancelled',
      sentence: 'sleep rejects with CancelledError when its signal fires.',
      async run({ make }) {
        const controller = new AbortController();
        const slept = make().sleep(60_000, controller.signal);
        controller.abort();
        await assert.rejects(slept, cancelled);
      },
    },
    {
      id: 'clock/sleep-cancelled-before',
      sentence: 'sleep rejects when its signal fired before.',
      async run({ make }) {
        await assert.rejects(make().sleep(0, AbortSignal.abort()), cancelled);
      },
    },
    {
      id: 'clock/after',
      sentence: 'after calls once, when its time has come.',
      async run({ make, pass }) {
        const clock = make();
        let calls = 0;
        clock.after(10, () => {
          calls += 1;
        });
        assert.equal(calls, 0);
        await pass(clock, 80);
        assert.equal(calls, 1);
      },
    },
    {
      id: 'clock/after-disposed',
      sentence: 'after does not call when its disposer was called first.',
      async run({ make, pass }) {
        const clock = make();
        let calls = 0;
        const dispose = clock.after(10, () => {
          calls += 1;
        });
        dispose();
        dispose();
        await pass(clock, 40);
        assert.equal(calls, 0);
      },
    },
    {
      id: 'clock/after-unref',
      sentence: 'The timer of after does not keep the process alive.',
      async run({ endsWithPendingTimer }) {
        if (endsWithPendingTimer !== undefined) assert.equal(await endsWithPendingTimer(), true);
      },
    },
  ],
};
