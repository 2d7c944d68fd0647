import { describe, expect, it } from 'vitest';
import { createCronCalendar } from '../../adapters/cron/croner.ts';
import { brokenCronCalendars } from './cron-calendar.broken.ts';
import { cronCalendarSuite } from './cron-calendar.suite.ts';

describe('the calendar over croner keeps the contract of a cron calendar', () => {
  for (const { id, sentence, run } of cronCalendarSuite.cases) it(`${id}: ${sentence}`, () => run({ make: createCronCalendar }));
});

describe('the suite of a cron calendar', () => {
  it.each(brokenCronCalendars)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = cronCalendarSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });
});
