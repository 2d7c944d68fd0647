import type { CronSchedule } from '../../../ports/cron-calendar.ts';
import type { ScheduleJob } from '../../../ports/schedule.ts';
import { clockChanges, repeatOf, zonedText } from '../../schedule/zone.ts';

const YEAR_MS = 366 * 86_400_000;
const REPEAT = { first: ' (the first of two such times)', second: ' (the second of two such times)' } as const;

/** The next due times of a job as lines, in its zone, with the changes of clocks that fall between them. */
export function nextLines({ timezone }: Pick<ScheduleJob, 'timezone'>, schedule: CronSchedule, now: number, count: number): string[] {
  const due = schedule.next(now, count);
  const last = due.at(-1);
  if (last === undefined) return ['  never'];
  const changes = clockChanges(now, last + 1, timezone).map(({ at, text }) => ({ at, order: 0, line: `  · ${text}` }));
  const fires = due.map((at) => {
    const repeat = repeatOf(at, timezone);
    return { at, order: 1, line: `  ${zonedText(at, timezone)}${repeat === undefined ? '' : REPEAT[repeat]}` };
  });
  // Far from a change of clocks nobody thinks of it.
  const [coming] = changes.length > 0 ? [] : clockChanges(last, last + YEAR_MS, timezone);
  const later = coming === undefined ? [] : [{ at: coming.at, order: 2, line: `  · later, ${coming.text}` }];
  return [...changes, ...fires, ...later].sort((a, b) => a.at - b.at || a.order - b.order).map(({ line }) => line);
}

/** The same for programs. */
export function nextJson({ timezone }: Pick<ScheduleJob, 'timezone'>, schedule: CronSchedule, now: number, count: number): object {
  const due = schedule.next(now, count);
  const last = due.at(-1) ?? now;
  return {
    timezone,
    next: due.map((at) => ({ at: new Date(at).toISOString(), local: zonedText(at, timezone) })),
    clock_changes: clockChanges(now, last + 1, timezone).map(({ at, by, text }) => ({
      at: new Date(at).toISOString(),
      seconds: by / 1000,
      text,
    })),
  };
}
