import assert from 'node:assert/strict';
import type { CronCalendar, CronSchedule } from '../../ports/cron-calendar.ts';
import type { ContractSuite } from './suite.ts';

export interface CronCalendarHarness {
  make(): CronCalendar;
}

const at = (text: string): number => Date.parse(text);

function schedule(harness: CronCalendarHarness, line: string, timezone: string): CronSchedule {
  const parsed = harness.make().parse(line, timezone);
  assert.ok(!('fault' in parsed), `${line}: ${'fault' in parsed ? parsed.fault : ''}`);
  return parsed;
}

function nexts(harness: CronCalendarHarness, line: string, timezone: string, after: string, count: number): string[] {
  return schedule(harness, line, timezone)
    .next(at(after), count)
    .map((each) => new Date(each).toISOString().slice(0, 16));
}

function faultOf(harness: CronCalendarHarness, line: string, timezone = 'UTC'): string {
  const parsed = harness.make().parse(line, timezone);
  assert.ok('fault' in parsed, `${line} was taken`);
  return parsed.fault;
}

const BAD_LINES: readonly (readonly [line: string, named: RegExp])[] = [
  ['60 * * * *', /minute/],
  ['* 24 * * *', /hour/],
  ['* * 0 * *', /day of month/],
  ['* * * 13 *', /month/],
  ['* * * * 8', /day of week/],
  ['*/0 * * * *', /minute/],
  ['5-1 * * * *', /minute/],
  ['* * L * *', /day of month/],
  ['* * * * 1#2', /day of week/],
  ['* * ? * *', /day of month/],
  ['* * * *', /five fields/],
  ['0 * * * * *', /five fields/],
  ['@reboot', /macros/],
  ['', /five fields/],
];

/** The contract of {@link CronCalendar}. */
export const cronCalendarSuite: ContractSuite<CronCalendarHarness> = {
  port: 'CronCalendar',
  cases: [
    {
      id: 'cron-calendar/grammar',
      sentence: 'a line has five fields or is a macro; anything else is a fault that names the field',
      async run(harness) {
        for (const [line, named] of BAD_LINES) assert.match(faultOf(harness, line), named, line);
        assert.deepEqual(nexts(harness, '5/20 8-9 1,15 feb-MAR *', 'UTC', '2026-02-14T00:00Z', 3), [
          '2026-02-15T08:05',
          '2026-02-15T08:25',
          '2026-02-15T08:45',
        ]);
        assert.deepEqual(nexts(harness, '@weekly', 'UTC', '2026-11-28T00:00Z', 1), ['2026-11-29T00:00']);
        assert.deepEqual(nexts(harness, '0 0 * * 7', 'UTC', '2026-11-28T00:00Z', 2), ['2026-11-29T00:00', '2026-12-06T00:00']);
      },
    },
    {
      id: 'cron-calendar/days',
      sentence: 'day of month and day of week, both restricted, are joined by OR; a field that begins with `*` restricts nothing by itself',
      async run(harness) {
        const year = schedule(harness, '0 0 13 * 5', 'UTC').between(at('2025-12-31T23:59Z'), at('2026-12-31T23:59Z'), 400);
        assert.equal(year.length, 61);
        assert.deepEqual(nexts(harness, '0 0 */2 * 1', 'UTC', '2026-11-01T00:00Z', 2), ['2026-11-09T00:00', '2026-11-23T00:00']);
      },
    },
    {
      id: 'cron-calendar/gap',
      sentence: 'a fixed time inside a spring gap is due at the first minute after the gap',
      async run(harness) {
        assert.deepEqual(nexts(harness, '30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', 2), ['2026-03-29T01:00', '2026-03-30T00:30']);
      },
    },
    {
      id: 'cron-calendar/fold',
      sentence: 'a fixed time inside an autumn fold is due once, at its first occurrence',
      async run(harness) {
        assert.deepEqual(nexts(harness, '30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 2), ['2026-10-25T00:30', '2026-10-26T01:30']);
      },
    },
    {
      id: 'cron-calendar/intervals',
      sentence: 'a line with a wildcard or a step in minutes or hours goes on through both hours of a fold',
      async run(harness) {
        assert.deepEqual(nexts(harness, '*/30 * * * *', 'Europe/Berlin', '2026-10-24T23:45Z', 5), [
          '2026-10-25T00:00',
          '2026-10-25T00:30',
          '2026-10-25T01:00',
          '2026-10-25T01:30',
          '2026-10-25T02:00',
        ]);
      },
    },
    {
      id: 'cron-calendar/steady',
      sentence: 'instants are whole minutes, strictly increasing, and the same from wherever they are asked',
      async run(harness) {
        const daily = schedule(harness, '30 2 * * *', 'Europe/Berlin');
        const all = daily.between(at('2026-10-20T00:00Z'), at('2026-10-30T00:00Z'), 100);
        for (const [index, each] of all.entries()) {
          assert.equal(each % 60_000, 0);
          assert.ok(index === 0 || each > (all[index - 1] as number));
        }
        for (let from = at('2026-10-24T20:07Z'); from < at('2026-10-26T04:00Z'); from += 420_000) {
          assert.deepEqual(daily.next(from, 1), all.filter((each) => each > from).slice(0, 1), new Date(from).toISOString());
        }
      },
    },
    {
      id: 'cron-calendar/never',
      sentence: 'a line that has no date within nine years is a fault, and so is an unknown zone',
      async run(harness) {
        assert.match(faultOf(harness, '0 0 31 2 *'), /no date/);
        assert.match(faultOf(harness, '0 0 * * *', 'Europe/Nowhere'), /zone/);
        assert.match(faultOf(harness, '0 0 * * *', '+02:00'), /zone/);
        assert.deepEqual(nexts(harness, '0 0 29 2 *', 'UTC', '2026-03-01T00:00Z', 2), ['2028-02-29T00:00', '2032-02-29T00:00']);
      },
    },
  ],
};
