import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../adapters/clock/system.ts';
import type { Clock } from '../../ports/clock.ts';
import { createManualClock, type ManualClock } from '../fakes/clock.ts';
import { brokenClocks } from './clock.broken.ts';
import { type ClockHarness, clockSuite } from './clock.suite.ts';

const SYSTEM_CLOCK = new URL('../../adapters/clock/system.ts', import.meta.url).href;

/** A process of its own, whose only business is a timer a minute away. */
async function endsWithPendingTimer(): Promise<boolean> {
  const program = `import { createSystemClock } from ${JSON.stringify(SYSTEM_CLOCK)}; createSystemClock().after(60_000, () => {});`;
  return new Promise((resolve) => {
    execFile(process.execPath, ['--input-type=module', '--eval', program], { timeout: 10_000 }, (error) => resolve(error === null));
  });
}

const subjects: Readonly<Record<string, ClockHarness>> = {
  'the system clock': { make: createSystemClock, pass: (_clock: Clock, ms: number) => wait(ms), endsWithPendingTimer },
  'the manual clock': { make: createManualClock, pass: (clock, ms) => (clock as ManualClock).advance(ms) },
};

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a clock`, () => {
    for (const { id, sentence, run } of clockSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a clock', () => {
  for (const { name, caughtBy, harness } of brokenClocks) {
    it(`rejects one that ${name} (${caughtBy})`, async () => {
      const found = clockSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken subject for each of its cases', () => {
    const caught = new Set(brokenClocks.map(({ caughtBy }) => caughtBy));
    expect(clockSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
