import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCronCalendar } from '../../../adapters/cron/croner.ts';
import type { CronSchedule } from '../../../ports/cron-calendar.ts';

const calendar = createCronCalendar();

function parse(line: string, timezone: string): CronSchedule {
  const parsed = calendar.parse(line, timezone);
  if ('fault' in parsed) throw new Error(parsed.fault);
  return parsed;
}

/** Zone, line, instant to begin from, the due instants after it. Gaps and folds as the zone data of each year has them. */
const TABLE: readonly (readonly [zone: string, line: string, after: string, due: readonly string[]])[] = [
  ['Europe/Berlin', '30 2 * * *', '2026-03-28T12:00Z', ['2026-03-29T01:00', '2026-03-30T00:30']],
  ['Europe/Berlin', '0,30 2 * * *', '2026-03-28T12:00Z', ['2026-03-29T01:00', '2026-03-30T00:00', '2026-03-30T00:30']],
  ['Europe/Berlin', '30 2-3 * * *', '2026-03-28T12:00Z', ['2026-03-29T01:00', '2026-03-29T01:30', '2026-03-30T00:30']],
  ['Europe/Berlin', '15 * * * *', '2026-10-24T23:45Z', ['2026-10-25T00:15', '2026-10-25T01:15', '2026-10-25T02:15']],
  ['America/New_York', '30 2 * * *', '2026-03-07T12:00Z', ['2026-03-08T07:00', '2026-03-09T06:30']],
  ['America/New_York', '30 1 * * *', '2026-10-31T12:00Z', ['2026-11-01T05:30', '2026-11-02T06:30']],
  [
    'America/New_York',
    '*/20 1 * * *',
    '2026-11-01T04:50Z',
    ['2026-11-01T05:00', '2026-11-01T05:20', '2026-11-01T05:40', '2026-11-01T06:00'],
  ],
  ['Asia/Beirut', '0 0 * * *', '2026-03-28T12:00Z', ['2026-03-28T22:00', '2026-03-29T21:00']],
  ['Asia/Beirut', '30 23 * * *', '2026-10-24T12:00Z', ['2026-10-24T20:30', '2026-10-25T21:30']],
  ['Australia/Lord_Howe', '45 1 * * *', '2026-04-04T12:00Z', ['2026-04-04T14:45', '2026-04-05T15:15']],
  ['Australia/Lord_Howe', '15 2 * * *', '2026-10-03T12:00Z', ['2026-10-03T15:30', '2026-10-04T15:15']],
  ['Australia/Sydney', '30 2 * * *', '2026-10-03T12:00Z', ['2026-10-03T16:00', '2026-10-04T15:30']],
  ['Asia/Kolkata', '0 9 * * 1-5', '2026-11-27T12:00Z', ['2026-11-30T03:30', '2026-12-01T03:30']],
  ['UTC', '0 0 29 2 *', '2026-01-01T00:00Z', ['2028-02-29T00:00', '2032-02-29T00:00']],
  ['UTC', '0 0 31 * *', '2026-01-31T00:00Z', ['2026-03-31T00:00', '2026-05-31T00:00']],
  ['UTC', '0 0 30 feb,apr *', '2026-01-01T00:00Z', ['2026-04-30T00:00', '2027-04-30T00:00']],
  ['UTC', '0 9 13 * fri', '2026-02-01T00:00Z', ['2026-02-06T09:00', '2026-02-13T09:00', '2026-02-20T09:00']],
  ['UTC', '@yearly', '2026-06-01T00:00Z', ['2027-01-01T00:00', '2028-01-01T00:00']],
];

describe('due instants over croner', () => {
  it.each(TABLE)('%s "%s" after %s', (zone, line, after, due) => {
    const found = parse(line, zone)
      .next(Date.parse(after), due.length)
      .map((each) => new Date(each).toISOString().slice(0, 16));
    expect(found).toEqual(due);
  });

  it('tells fixed times of day from lines that follow real minutes', () => {
    expect(['0 9 * * *', '0,30 9-17 * * *'].map((line) => parse(line, 'UTC').fixed)).toEqual([true, true]);
    expect(['* 9 * * *', '0 */2 * * *', '5/20 9 * * *', '0 * * * *'].map((line) => parse(line, 'UTC').fixed)).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });

  it('names the value and the limit of a bad field, and never throws whatever the line is', () => {
    expect(calendar.parse('* * * * funday', 'UTC')).toEqual({
      fault: 'day of week "funday": "funday" is not a number from 0 to 7 or a name such as sun',
    });
    expect(calendar.parse('x'.repeat(600), 'UTC')).toEqual({ fault: 'a cron line has at most 512 characters; this one has 600' });
    fc.assert(
      fc.property(fc.string({ maxLength: 60, unit: fc.constantFrom(...'0123456789*/-, LW#?@abc') }), (line) => {
        const parsed = calendar.parse(line, 'UTC');
        if ('fault' in parsed) expect(parsed.fault).not.toBe('');
      }),
    );
  });

  const number = (min: number, max: number) => fc.integer({ min, max }).map(String);
  const field = (min: number, max: number) =>
    fc.oneof(
      fc.constant('*'),
      number(min, max),
      fc.integer({ min: 1, max: Math.min(30, max) }).map((step) => `*/${step}`),
      fc.tuple(fc.integer({ min, max }), fc.integer({ min, max })).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`),
    );
  const line = fc.tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 7)).map((fields) => fields.join(' '));
  const zone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Beirut', 'Australia/Lord_Howe');

  it('strictly increase, and asking in pieces gives the same as asking at once', () => {
    fc.assert(
      fc.property(line, zone, fc.integer({ min: 0, max: 525_600 }), fc.integer({ min: 1, max: 20_000 }), (cron, timezone, start, gap) => {
        const schedule = parse(cron, timezone);
        const from = Date.UTC(2026, 0, 1) + start * 60_000;
        const middle = from + gap * 60_000;
        const until = middle + gap * 60_000;
        const whole = schedule.between(from, until, 100_000);
        const pieces = [...schedule.between(from, middle, 100_000), ...schedule.between(middle, until, 100_000)];
        expect(pieces).toEqual(whole);
        expect(whole.every((each, index) => each % 60_000 === 0 && (index === 0 || each > (whole[index - 1] as number)))).toBe(true);
      }),
      { numRuns: 150 },
    );
  });
});
