import { describe, expect, it } from 'vitest';
import { createCronCalendar } from '../../../adapters/cron/croner.ts';
import { nextLines } from '../../../hosts/cli/schedule/fires.ts';
import { clockChanges, repeatOf, zonedText } from '../../../hosts/schedule/zone.ts';

const YEAR = [Date.UTC(2026, 0, 1), Date.UTC(2027, 0, 1)] as const;
const texts = (timezone: string) => clockChanges(...YEAR, timezone).map(({ text }) => text.split(':').slice(0, 3).join(':'));

describe('changes of clocks', () => {
  it.each([
    ['UTC', []],
    ['Asia/Kolkata', []],
    ['Europe/Berlin', ['clocks go forward on 2026-03-29 from 02:00 to 03:00', 'clocks go back on 2026-10-25 from 03:00 to 02:00']],
    ['America/New_York', ['clocks go forward on 2026-03-08 from 02:00 to 03:00', 'clocks go back on 2026-11-01 from 02:00 to 01:00']],
    ['Australia/Lord_Howe', ['clocks go back on 2026-04-05 from 02:00 to 01:30', 'clocks go forward on 2026-10-04 from 02:00 to 02:30']],
    ['Asia/Beirut', ['clocks go forward on 2026-03-29 from 00:00 to 01:00', 'clocks go back on 2026-10-24 from 00:00 to 23:00']],
  ])('of %s are found', (timezone, expected) => {
    expect(texts(timezone)).toEqual(expected);
  });

  it('are shown between the due times, and a time that comes twice is marked', () => {
    const zone = 'Europe/Berlin';
    const lines = (cron: string, from: number, count: number) => {
      const schedule = createCronCalendar().parse(cron, zone);
      if ('fault' in schedule) throw new Error(schedule.fault);
      return nextLines({ timezone: zone }, schedule, from, count);
    };
    expect(lines('30 2 * * *', Date.UTC(2026, 2, 27, 12), 3)).toEqual([
      '  2026-03-28 02:30 +01:00 Sat',
      '  · clocks go forward on 2026-03-29 from 02:00 to 03:00: a fixed time in between is due at 03:00',
      '  2026-03-29 03:00 +02:00 Sun',
      '  2026-03-30 02:30 +02:00 Mon',
    ]);
    expect(lines('30 2 * * *', Date.UTC(2026, 9, 24, 12), 2)).toEqual([
      '  2026-10-25 02:30 +02:00 Sun (the first of two such times)',
      '  · clocks go back on 2026-10-25 from 03:00 to 02:00: a fixed time from 02:00 to 03:00 is due once, the first time it comes',
      '  2026-10-26 02:30 +01:00 Mon',
    ]);
    expect(lines('0 9 * * *', Date.UTC(2026, 5, 1), 1)).toEqual([
      '  2026-06-01 09:00 +02:00 Mon',
      '  · later, clocks go back on 2026-10-25 from 03:00 to 02:00: a fixed time from 02:00 to 03:00 is due once, the first time it comes',
    ]);
  });

  it('make some times come twice', () => {
    const at = (hour: number, minute: number) => repeatOf(Date.UTC(2026, 9, 25, hour, minute), 'Europe/Berlin');
    expect([at(0, 30), at(1, 30), at(2, 0), at(23, 0)]).toEqual(['first', 'second', undefined, undefined]);
  });
});

it('a time is shown as the clocks of its zone show it', () => {
  const instant = Date.UTC(2026, 2, 10, 23, 45);
  expect(['UTC', 'Asia/Kathmandu', 'America/St_Johns'].map((zone) => zonedText(instant, zone))).toEqual([
    '2026-03-10 23:45 +00:00 Tue',
    '2026-03-11 05:30 +05:45 Wed',
    '2026-03-10 21:15 -02:30 Tue',
  ]);
});
