import { Cron } from 'croner';
import type { CronCalendar, CronFault, CronSchedule } from '../../ports/cron-calendar.ts';
import { parseLine } from './fields.ts';

/** Within it lie two leap days whatever the century. */
const HORIZON_MS = 9 * 366 * 86_400_000;

function zoneFault(timezone: string): CronFault | undefined {
  const fault = { fault: `there is no time zone ${JSON.stringify(timezone.slice(0, 80))}; use a name such as Europe/Berlin or UTC` };
  // An offset is no zone: it knows no change of clocks.
  if (!/^[A-Za-z]/.test(timezone)) return fault;
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    return undefined;
  } catch {
    return fault;
  }
}

function scheduleOf(cron: Cron, fixed: boolean): CronSchedule {
  const collect = (after: number, until: number, limit: number): readonly number[] => {
    const found: number[] = [];
    for (let last = after; found.length < limit; ) {
      const next = cron.nextRun(new Date(last))?.getTime();
      // The library may stand still at the edge of its calendar; an instant that does not grow ends the search.
      if (next === undefined || next > until || next <= last) break;
      found.push(next);
      last = next;
    }
    return found;
  };
  return { fixed, between: collect, next: (after, count) => collect(after, after + HORIZON_MS, count) };
}

/** Cron lines by the `croner` library, which knows the time zones of the runtime. */
export function createCronCalendar(): CronCalendar {
  return {
    parse(line, timezone) {
      const parsed = parseLine(line);
      if ('fault' in parsed) return parsed;
      const unknown = zoneFault(timezone);
      if (unknown) return unknown;
      const cron = new Cron(parsed.pattern, {
        timezone,
        paused: true,
        mode: '5-part',
        fixedTimeRule: 'no-wildcard',
        domAndDow: !parsed.eitherDay,
      });
      const schedule = scheduleOf(cron, parsed.fixed);
      // From any instant: a date that exists comes again within the horizon.
      if (schedule.next(0, 1).length === 0) return { fault: `${JSON.stringify(line.trim())} has no date: its day never comes` };
      return schedule;
    },
  };
}
