import { createCronCalendar } from '../../../adapters/cron/croner.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import type { Schedules } from '../../../adapters/store/index.ts';
import type { CronCalendar } from '../../../ports/cron-calendar.ts';
import type { Ids } from '../../../ports/ids.ts';
import { type ScheduledJob, ScheduleError } from '../../../ports/schedule.ts';
import type { ResolvedConfig } from '../../config/types.ts';
import type { CommandContext } from '../command.ts';
import { sanitiseLine } from '../render/sanitise.ts';

/** What the commands about jobs work with. */
export interface ScheduleWork extends Schedules {
  readonly context: CommandContext;
  readonly config: ResolvedConfig;
  readonly calendar: CronCalendar;
  readonly ids: Ids;
  readonly now: number;
  /** `--json` was given. */
  readonly json: boolean;
  out(line: string): void;
  /** One JSON object a line. */
  outAll(objects: readonly object[]): void;
}

export function scheduleWork(context: CommandContext, config: ResolvedConfig, schedules: Schedules): ScheduleWork {
  const out = (line: string): void => void context.io.stdout.write(`${line}\n`);
  return {
    ...schedules,
    context,
    config,
    calendar: createCronCalendar(),
    ids: createRandomIds(),
    now: Date.now(),
    json: context.args.flags.json === true,
    out,
    outAll: (objects) => objects.forEach((each) => void out(JSON.stringify(each))),
  };
}

/** The job of this id or name. Throws {@link ScheduleError} `job_not_found`. */
export async function jobNamed({ jobs }: Pick<ScheduleWork, 'jobs'>, idOrName: string): Promise<ScheduledJob> {
  const found = await jobs.get(idOrName);
  if (found) return found;
  throw new ScheduleError('job_not_found', `there is no job ${JSON.stringify(idOrName)}; "odek schedule list" shows them`, {
    value: idOrName,
  });
}

const MAX_CELL = 60;

/** Text of a stored job, safe to show in a table. */
export function cell(text: string): string {
  const line = sanitiseLine(text);
  const points = [...line];
  return points.length <= MAX_CELL ? line : `${points.slice(0, MAX_CELL - 1).join('')}…`;
}
