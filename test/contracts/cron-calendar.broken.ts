import { createCronCalendar } from '../../adapters/cron/croner.ts';
import type { CronCalendar, CronSchedule } from '../../ports/cron-calendar.ts';
import type { CronCalendarHarness } from './cron-calendar.suite.ts';
import type { BrokenAdapter } from './suite.ts';

const real = createCronCalendar();
const HOUR_MS = 3_600_000;

/** A calendar whose schedules are changed; `pick` sees the instants of the real one. */
function shifted(pick: (instants: readonly number[], line: string) => readonly number[]): CronCalendar {
  return {
    parse(line, timezone) {
      const parsed = real.parse(line, timezone);
      if ('fault' in parsed) return parsed;
      const schedule: CronSchedule = {
        fixed: parsed.fixed,
        between: (after, until, limit) => pick(parsed.between(after, until, limit + 2), line).slice(0, limit),
        next: (after, count) => pick(parsed.next(after, count + 2), line).slice(0, count),
      };
      return schedule;
    },
  };
}

const instead = (parse: CronCalendar['parse']): CronCalendar => ({ parse });

const GAP = Date.parse('2026-03-29T01:00Z');
const FOLD = Date.parse('2026-10-25T00:30Z');

const broken = (name: string, caughtBy: string, calendar: CronCalendar): BrokenAdapter<CronCalendarHarness> => ({
  name,
  caughtBy: `cron-calendar/${caughtBy}`,
  harness: { make: () => calendar },
});

/** Calendars that each break one sentence. */
export const brokenCronCalendars: readonly BrokenAdapter<CronCalendarHarness>[] = [
  broken(
    'takes six fields',
    'grammar',
    instead((line, zone) => real.parse(line.split(' ').slice(-5).join(' '), zone)),
  ),
  broken(
    'joins the days by AND',
    'days',
    shifted((instants, line) =>
      line === '0 0 13 * 5' ? instants.filter((each) => new Date(each).getUTCDate() === 13 && new Date(each).getUTCDay() === 5) : instants,
    ),
  ),
  broken(
    'skips the day of a gap',
    'gap',
    shifted((instants) => instants.filter((each) => each !== GAP)),
  ),
  broken(
    'is due twice in a fold',
    'fold',
    shifted((instants, line) =>
      line.startsWith('30 2') ? instants.flatMap((each) => (each === FOLD ? [each, each + HOUR_MS] : [each])) : instants,
    ),
  ),
  broken(
    'stands still through a fold',
    'intervals',
    shifted((instants, line) =>
      line.startsWith('*/30') ? instants.filter((each) => each < FOLD || each >= FOLD + 3 * HOUR_MS) : instants,
    ),
  ),
  broken(
    'is due a second late',
    'steady',
    shifted((instants) => instants.map((each) => each + 1_000)),
  ),
  broken(
    'waits for the 31st of February',
    'never',
    instead((line, zone) => (line === '0 0 31 2 *' ? real.parse('0 0 * * *', zone) : real.parse(line, zone))),
  ),
];
