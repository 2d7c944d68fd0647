import type { Clock } from '../../ports/clock.ts';
import type { CronCalendar } from '../../ports/cron-calendar.ts';
import type { FireLedger } from '../../ports/schedule.ts';

const DAY_MS = 86_400_000;
/** A day has 1,440 minutes, and a fold an hour more. */
const MAX_FIRES = 2_000;
const MAX_ALL_FIRES = 50_000;

/** When the day began that it is now in this zone. */
function midnight(calendar: CronCalendar, timezone: string, now: number): number {
  const daily = calendar.parse('0 0 * * *', timezone);
  return ('fault' in daily ? undefined : daily.between(now - 2 * DAY_MS, now, 4).at(-1)) ?? now - DAY_MS;
}

/** Tokens that the runs of a job, or of all jobs, used since midnight of the zone. */
export async function tokensToday(
  deps: { readonly calendar: CronCalendar; readonly fires: FireLedger; readonly clock: Clock },
  timezone: string,
  jobId?: string,
): Promise<number> {
  const since = midnight(deps.calendar, timezone, deps.clock.now());
  const limit = jobId === undefined ? MAX_ALL_FIRES : MAX_FIRES;
  const fires = await deps.fires.find({ since, limit, ...(jobId !== undefined && { jobId }) });
  return fires.reduce((sum, fire) => sum + (fire.tokens ?? 0), 0);
}
