import { ConfigError } from '../../ports/errors.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { loadToldWithoutModel } from './host.ts';
import { addJob, editJob, importJobs, removeJob, switchJob } from './schedule/edit.ts';
import { listJobs, showDeliveries, showHistory, showJob, showNext } from './schedule/show.ts';
import { showStatus } from './schedule/status.ts';
import { type ScheduleWork, scheduleWork } from './schedule/work.ts';
import { type ActionSpec, SCHEDULE_ACTIONS, type ScheduleAction } from './schedule-flags.ts';
import { openConfiguredStore } from './store.ts';

function checkArguments(action: ScheduleAction, rest: readonly string[], flags: CommandContext['args']['flags']): void {
  const { flags: allowed, needs, takes }: ActionSpec = SCHEDULE_ACTIONS[action];
  const misplaced = Object.keys(flags).find((name) => !allowed.includes(name));
  if (misplaced !== undefined) {
    throw new ConfigError('unknown_flag', `--${misplaced} does not go with odek schedule ${action}`, { value: misplaced, limit: allowed });
  }
  if (needs !== undefined && rest.length === 0) throw new ConfigError('missing_argument', `odek schedule ${action} needs ${needs}`);
  if (rest.length > takes) {
    throw new ConfigError('unexpected_argument', `odek schedule ${action} does not take ${JSON.stringify(rest[takes])}`, {
      value: rest[takes],
    });
  }
}

async function perform(action: Exclude<ScheduleAction, 'daemon' | 'run'>, rest: readonly string[], work: ScheduleWork): Promise<void> {
  const [first] = rest;
  const job = first ?? '';
  switch (action) {
    case 'add':
      return addJob(work, rest);
    case 'edit':
      return editJob(work, job, rest.slice(1));
    case 'list':
      return listJobs(work);
    case 'show':
      return showJob(work, job);
    case 'rm':
      return removeJob(work, job);
    case 'enable':
    case 'disable':
      return switchJob(work, job, action === 'enable');
    case 'next':
      return showNext(work, first);
    case 'history':
      return showHistory(work, first);
    case 'deliveries':
      return showDeliveries(work);
    case 'status':
      return showStatus(work);
    case 'import':
      return importJobs(work, first);
  }
}

/** `odek schedule …`: jobs that run at their times. */
export async function run(context: CommandContext): Promise<number> {
  const [name = '', ...rest] = context.args.positionals;
  const action = name as ScheduleAction;
  checkArguments(action, rest, context.args.flags);
  if (action === 'daemon') return (await import('../schedule/daemon.ts')).runDaemon(context);
  const config = await loadToldWithoutModel(context);
  const store = await openConfiguredStore(config, 'schedule');
  try {
    const work = scheduleWork(context, config, store.schedules);
    if (action === 'run') return await (await import('./schedule/run-now.ts')).runJobNow(work, store, rest[0] ?? '');
    await perform(action, rest, work);
    return EXIT.ok;
  } finally {
    await store.close();
  }
}
