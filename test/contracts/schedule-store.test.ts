import { describe, expect, it } from 'vitest';
import { sqliteSchedules } from '../adapters/store/schedule-place.ts';
import { brokenScheduleStores } from './schedule-store.broken.ts';
import { scheduleStoreSuite } from './schedule-store.suite.ts';

describe('the database keeps the contract of a schedule store', () => {
  for (const { id, sentence, run } of scheduleStoreSuite.cases) it(`${id}: ${sentence}`, () => run(sqliteSchedules()));
});

describe('the suite of a schedule store', () => {
  it.each(brokenScheduleStores)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = scheduleStoreSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });
});
