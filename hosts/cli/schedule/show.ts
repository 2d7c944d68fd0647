import type { CronSchedule } from '../../../ports/cron-calendar.ts';
import type { Delivery, Fire, ScheduledJob, ScheduleJob } from '../../../ports/schedule.ts';
import { deliveryText, scheduleOf } from '../../schedule/job.ts';
import { zonedText } from '../../schedule/zone.ts';
import { columns } from '../render/columns.ts';
import { sanitise, sanitiseLine } from '../render/sanitise.ts';
import { nextJson, nextLines } from './fires.ts';
import { deliveryJson, fireJson, jobJson } from './json.ts';
import { cell, jobNamed, type ScheduleWork } from './work.ts';

const SHOWN_FIRES = 5;
const SHOWN_RECORDS = 20;

/** The schedule of a stored job; undefined where its line or zone means nothing to this odek. */
function knownSchedule({ calendar }: Pick<ScheduleWork, 'calendar'>, { cron, timezone }: ScheduleJob): CronSchedule | undefined {
  const found = calendar.parse(cron, timezone);
  return 'fault' in found ? undefined : found;
}

export function nextOf(work: ScheduleWork, { job }: ScheduledJob): number | undefined {
  return job.enabled ? knownSchedule(work, job)?.next(work.now, 1)[0] : undefined;
}

/** A due time and what became of it, in a few words. */
export function fireWords(fire: Fire | undefined, timezone: string): string {
  if (fire === undefined) return '-';
  return `${zonedText(fire.dueAt, timezone).slice(0, 16)} ${fire.state === 'ran' ? (fire.outcome ?? 'ran') : fire.state}`;
}

/** `odek schedule list` */
export async function listJobs(work: ScheduleWork): Promise<void> {
  const jobs = await work.jobs.list();
  if (work.json) return work.out(JSON.stringify(jobs.map((each) => jobJson(each, nextOf(work, each)))));
  if (jobs.length === 0) return work.out('There are no jobs. odek schedule add --cron "30 7 * * 1-5" "<task>" makes one.');
  const rows = jobs.map((each) => {
    const { job } = each;
    const next = nextOf(work, each);
    const due = next === undefined ? '-' : zonedText(next, job.timezone).slice(0, 23);
    return [job.id, job.enabled ? 'yes' : 'no', cell(job.cron), due, fireWords(each.lastFire, job.timezone), cell(job.name)];
  });
  for (const line of columns([['ID', 'ON', 'CRON', 'NEXT', 'LAST', 'NAME'], ...rows])) work.out(line);
}

function facts(work: ScheduleWork, scheduled: ScheduledJob): readonly (readonly [string, string])[] {
  const { job, runs, lastFire, lastRun } = scheduled;
  const limits = Object.entries(job.limits).map(([name, value]) => `${name} ${value}`);
  return [
    ['id', job.id],
    ['name', sanitiseLine(job.name)],
    ['enabled', job.enabled ? 'yes' : 'no'],
    ['cron', `${sanitiseLine(job.cron)} in ${job.timezone}${job.follows?.includes('timezone') ? ' (as configured)' : ''}`],
    ['deliver', sanitiseLine(deliveryText(job.deliver))],
    ['catch up', job.catchUp ? 'the newest missed time runs once' : 'missed times are recorded'],
    ['overlap', job.overlap === 'queue' ? 'one time waits for the run before it' : 'a time that comes while it runs is skipped'],
    ['session', job.session === 'continue' ? `goes on with ${job.id}` : 'a new one each time'],
    ['workspace', sanitiseLine(job.workspace)],
    ['model', job.model ?? 'as configured'],
    [
      'limits',
      [...limits, `${job.timeoutMs / 1000} s a run`, ...(job.dailyTokens > 0 ? [`${job.dailyTokens} tokens a day`] : [])].join(', '),
    ],
    ['runs', String(runs)],
    ['last', fireWords(lastFire, job.timezone)],
    ['last run', lastRun?.result === undefined ? '-' : sanitiseLine(lastRun.result)],
    ['next', ((next) => (next === undefined ? '-' : zonedText(next, job.timezone)))(nextOf(work, scheduled))],
  ];
}

/** `odek schedule show <job>` */
export async function showJob(work: ScheduleWork, idOrName: string): Promise<void> {
  const found = await jobNamed(work, idOrName);
  if (work.json) return work.out(JSON.stringify(jobJson(found, nextOf(work, found))));
  for (const line of columns(facts(work, found).map(([name, value]) => [name, value]))) work.out(line);
  work.out('');
  work.out(sanitise(found.job.task));
}

/** `odek schedule next [job]`: of one job, or the next due times of all. */
export async function showNext(work: ScheduleWork, idOrName: string | undefined): Promise<void> {
  const { count } = work.context.args.flags;
  const shown = typeof count === 'number' ? count : SHOWN_FIRES;
  const chosen = idOrName === undefined ? (await work.jobs.list()).filter(({ job }) => job.enabled) : [await jobNamed(work, idOrName)];
  for (const { job } of chosen) {
    const schedule = idOrName === undefined ? knownSchedule(work, job) : scheduleOf(work.calendar, job.cron, job.timezone);
    if (schedule === undefined) continue;
    if (work.json) {
      work.out(JSON.stringify({ job_id: job.id, name: job.name, enabled: job.enabled, ...nextJson(job, schedule, work.now, shown) }));
      continue;
    }
    work.out(`${job.id} ${sanitiseLine(job.name)} in ${job.timezone}${job.enabled ? '' : ' (disabled: none of these comes)'}`);
    for (const line of nextLines(job, schedule, work.now, shown)) work.out(line);
  }
  if (chosen.length === 0 && !work.json) work.out('No job is enabled.');
}

function recordsShown(work: ScheduleWork): number {
  const { limit } = work.context.args.flags;
  return typeof limit === 'number' ? limit : SHOWN_RECORDS;
}

const took = ({ startedAt, endedAt }: Fire): string =>
  startedAt === undefined || endedAt === undefined ? '-' : `${((endedAt - startedAt) / 1000).toFixed(1)}s`;

/** `odek schedule history [job]`: newest first. */
export async function showHistory(work: ScheduleWork, idOrName: string | undefined): Promise<void> {
  // A job that is gone has its history by its id.
  const job = idOrName === undefined ? undefined : (await work.jobs.get(idOrName))?.job;
  const isGone = idOrName !== undefined && job === undefined;
  const jobId = isGone ? idOrName : job?.id;
  const fires = await work.fires.find({ limit: recordsShown(work), ...(jobId !== undefined && { jobId }) });
  if (isGone && fires.length === 0) await jobNamed(work, idOrName);
  if (work.json) return work.outAll(fires.map(fireJson));
  if (fires.length === 0) return work.out('Nothing came due yet.');
  const byId = new Map((await work.jobs.list()).map((each) => [each.job.id, each.job]));
  const rows = fires.map((fire) => {
    const own = byId.get(fire.jobId);
    const due = `${zonedText(fire.dueAt, own?.timezone ?? 'UTC').slice(0, 23)}${fire.manual ? ' by hand' : ''}`;
    const state = fire.state === 'ran' ? (fire.outcome ?? 'ran') : fire.state;
    const words = fire.reason ?? fire.result ?? '';
    return [due, cell(own?.name ?? fire.jobId), state, took(fire), String(fire.tokens ?? '-'), fire.sessionId ?? '-', cell(words)];
  });
  for (const line of columns([['DUE', 'JOB', 'STATE', 'TOOK', 'TOKENS', 'SESSION', 'RESULT'], ...rows])) work.out(line);
}

function deliveryState({ state, maybeRepeat, attempts }: Delivery): string {
  const marks = [...(maybeRepeat ? ['possible repeat'] : []), ...(attempts > 1 ? [`${attempts} attempts`] : [])];
  return marks.length === 0 ? state : `${state} (${marks.join(', ')})`;
}

/** `odek schedule deliveries`: results and how far they got, newest first. */
export async function showDeliveries(work: ScheduleWork): Promise<void> {
  const deliveries = await work.outbox.list(recordsShown(work));
  if (work.json) return work.outAll(deliveries.map(deliveryJson));
  if (deliveries.length === 0) return work.out('No result was sent yet.');
  const rows = deliveries.map((each) => [
    String(each.id),
    new Date(each.dueAt).toISOString().slice(0, 16),
    cell(each.jobName),
    cell(deliveryText(each.target)),
    deliveryState(each),
    cell(each.lastError ?? ''),
  ]);
  for (const line of columns([['ID', 'DUE (UTC)', 'JOB', 'TO', 'STATE', 'ERROR'], ...rows])) work.out(line);
}
