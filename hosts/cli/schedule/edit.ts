import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { BudgetLimits } from '../../../ports/budget.ts';
import { ConfigError } from '../../../ports/errors.ts';
import { type ScheduledJob, ScheduleError, type ScheduleJob } from '../../../ports/schedule.ts';
import { unenforcedCostLimit } from '../../cost-limit.ts';
import { MAX_IMPORT_BYTES, readJobsFile } from '../../schedule/import-file.ts';
import { changedJob, checkedJob, deliveryText, type JobInput, type JobPlace, scheduleOf } from '../../schedule/job.ts';
import type { FlagValue } from '../command.ts';
import { sanitiseLine } from '../render/sanitise.ts';
import { nextLines } from './fires.ts';
import { jobJson } from './json.ts';
import { jobNamed, type ScheduleWork } from './work.ts';

const SHOWN_FIRES = 5;

const LIMIT_FLAGS = {
  'max-runtime': 'max_runtime_seconds',
  'max-tool-calls': 'max_tool_calls',
  'max-input-tokens': 'max_input_tokens',
  'max-output-tokens': 'max_output_tokens',
  'max-cost-usd': 'max_cost_usd',
} as const satisfies Readonly<Record<string, keyof BudgetLimits>>;

type Flags = Readonly<Record<string, FlagValue>>;

function limitsOf(flags: Flags): BudgetLimits {
  const given = Object.entries(LIMIT_FLAGS).flatMap(([flag, name]) => (typeof flags[flag] === 'number' ? [[name, flags[flag]]] : []));
  return Object.fromEntries(given) as BudgetLimits;
}

const text = (value: FlagValue | undefined): string | undefined => (typeof value === 'string' ? value : undefined);
const number = (value: FlagValue | undefined): number | undefined => (typeof value === 'number' ? value : undefined);

async function workspaceOf({ context }: Pick<ScheduleWork, 'context'>): Promise<string> {
  const path = resolve(context.cwd, text(context.args.flags.workspace) ?? '.');
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) return path;
  throw new ScheduleError('invalid_job', `the workspace must be a folder that is there, not ${path}`, { value: path });
}

/** Only what was given. */
function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** Said when the limit is set, and not first at night. */
function warnOfCost({ config, context }: ScheduleWork, { limits, model = config.model }: ScheduleJob): void {
  const unenforced = model === undefined ? undefined : unenforcedCostLimit({ ...config, limits }, model);
  if (unenforced !== undefined) context.io.stderr.write(`odek: warning: ${unenforced}\n`);
}

/** What the flags say about a job; the workspace is made absolute. */
async function saidBy(work: ScheduleWork): Promise<Partial<JobInput>> {
  const { flags } = work.context.args;
  return given({
    name: text(flags.name),
    cron: text(flags.cron),
    timezone: text(flags.tz),
    deliver: text(flags.deliver),
    catchUp: typeof flags.catchup === 'boolean' ? flags.catchup : undefined,
    enabled: typeof flags.disabled === 'boolean' ? !flags.disabled : undefined,
    overlap: text(flags.overlap) as ScheduleJob['overlap'] | undefined,
    session: text(flags.session) as ScheduleJob['session'] | undefined,
    workspace: flags.workspace === undefined ? undefined : await workspaceOf(work),
    model: text(flags.model),
    dailyTokens: number(flags['daily-tokens']),
    timeoutSeconds: number(flags.timeout),
  });
}

async function placeOf(work: ScheduleWork): Promise<JobPlace> {
  const taken = (await work.jobs.list()).map(({ job }) => job.name);
  return { calendar: work.calendar, schedules: work.config.schedules, ids: work.ids, now: work.now, taken };
}

/** Says what was stored, when it is due, and what keeps it from doing as it says. */
async function tellStored(work: ScheduleWork, stored: ScheduledJob): Promise<void> {
  const { job } = stored;
  const schedule = scheduleOf(work.calendar, job.cron, job.timezone);
  if (work.json) return work.out(JSON.stringify(jobJson(stored, job.enabled ? schedule.next(work.now, 1)[0] : undefined)));
  work.out(
    `${job.id} ${sanitiseLine(job.name)}: ${job.cron} in ${job.timezone}, to ${sanitiseLine(deliveryText(job.deliver))}${job.enabled ? '' : ', disabled'}`,
  );
  work.out(job.enabled ? 'due next:' : 'due next, once it is enabled:');
  for (const line of nextLines(job, schedule, work.now, SHOWN_FIRES)) work.out(line);
  if ((await work.leases.holder()) === undefined) work.out('No scheduler is running: "odek schedule daemon" starts one.');
}

/** `odek schedule add --cron … <task>` */
export async function addJob(work: ScheduleWork, words: readonly string[]): Promise<void> {
  const { cron, ...said } = await saidBy(work);
  if (cron === undefined)
    throw new ConfigError('missing_argument', 'odek schedule add needs --cron "<line>", such as --cron "30 7 * * 1-5"');
  const workspace = said.workspace ?? (await workspaceOf(work));
  const input = { ...said, cron, task: words.join(' '), workspace, limits: limitsOf(work.context.args.flags) };
  const job = checkedJob(input, await placeOf(work));
  warnOfCost(work, job);
  await tellStored(work, await work.jobs.put(job, work.now));
}

/** `odek schedule edit <job> [--cron …] [new task]`: what is not named stays, and so do id, history and sessions. */
export async function editJob(work: ScheduleWork, idOrName: string, words: readonly string[]): Promise<void> {
  const { job } = await jobNamed(work, idOrName);
  const said = await saidBy(work);
  const limits = limitsOf(work.context.args.flags);
  if (words.length === 0 && Object.keys(said).length === 0 && Object.keys(limits).length === 0) {
    throw new ConfigError('missing_argument', 'odek schedule edit needs what is to change: a flag such as --cron "<line>", or a new task');
  }
  const change = { ...said, ...(words.length > 0 && { task: words.join(' ') }), limits };
  const changed = changedJob(job, change, await placeOf(work));
  warnOfCost(work, changed);
  await tellStored(work, await work.jobs.put(changed, work.now));
}

/** `odek schedule rm <job>` */
export async function removeJob(work: ScheduleWork, idOrName: string): Promise<void> {
  const { job } = await jobNamed(work, idOrName);
  await work.jobs.remove(job.id);
  work.out(`${job.id} ${sanitiseLine(job.name)} is gone; what its runs did stays in odek schedule history ${job.id} and in its sessions`);
}

/** `odek schedule enable|disable <job>` */
export async function switchJob(work: ScheduleWork, idOrName: string, enabled: boolean): Promise<void> {
  const { job } = await jobNamed(work, idOrName);
  if (job.enabled !== enabled) await work.jobs.put({ ...job, enabled }, work.now);
  work.out(`${job.id} ${sanitiseLine(job.name)} is ${enabled ? 'enabled' : 'disabled'}`);
}

async function readImport(path: string): Promise<string> {
  const refuse = (why: string, cause?: unknown): never => {
    throw new ScheduleError('invalid_job', `${path} cannot be imported: ${why}`, { value: path, limit: MAX_IMPORT_BYTES, cause });
  };
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = await file.stat();
      if (!found.isFile()) return refuse('it is no regular file');
      if (found.size > MAX_IMPORT_BYTES) return refuse(`it has ${found.size} bytes, the limit is ${MAX_IMPORT_BYTES}`);
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof ScheduleError) throw error;
    return refuse((error as Error).message, error);
  }
}

/** `odek schedule import [file]`: all jobs of the file or none, unless `--skip-bad`. */
export async function importJobs(work: ScheduleWork, file: string | undefined): Promise<void> {
  const { context, config } = work;
  const path = file === undefined ? join(config.state.home, 'schedules.json') : resolve(context.cwd, file);
  const present = (await work.jobs.list()).map(({ job }) => job);
  const place = { calendar: work.calendar, schedules: config.schedules, ids: work.ids, now: work.now };
  const { jobs, faults } = readJobsFile(path, await readImport(path), { ...place, workspace: await workspaceOf(work), present });
  if (faults.length > 0 && context.args.flags['skip-bad'] !== true) {
    const more = 'nothing was imported; --skip-bad takes the others';
    throw new ScheduleError(
      'invalid_job',
      `${path}: ${faults.length} of ${jobs.length + faults.length} jobs cannot be taken, and ${more}\n  ${faults.join('\n  ')}`,
      {
        value: faults,
      },
    );
  }
  for (const fault of faults) context.io.stderr.write(`odek: left out: ${fault}\n`);
  const stored: string[] = [];
  try {
    for (const job of jobs) {
      await work.jobs.put(job, work.now);
      stored.push(job.id);
    }
  } catch (error) {
    for (const id of stored) await work.jobs.remove(id);
    throw error;
  }
  if (work.json) return work.out(JSON.stringify({ imported: jobs.map(({ id, name }) => ({ id, name })), faults }));
  for (const { id, name } of jobs) work.out(`${id} ${sanitiseLine(name)}`);
  work.out(`${jobs.length} imported${faults.length > 0 ? `, ${faults.length} left out` : ''}`);
}
