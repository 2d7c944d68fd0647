import { describe, expect, it } from 'vitest';
import { sqliteSchedules } from '../adapters/store/schedule-place.ts';
import { brokenSchedulerLeases } from './scheduler-leases.broken.ts';
import { schedulerLeasesSuite } from './scheduler-leases.suite.ts';

describe('the database keeps the contract of scheduler leases', () => {
  for (const { id, sentence, run } of schedulerLeasesSuite.cases) it(`${id}: ${sentence}`, () => run(sqliteSchedules()));
});

describe('the suite of scheduler leases', () => {
  it.each(brokenSchedulerLeases)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = schedulerLeasesSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });
});
