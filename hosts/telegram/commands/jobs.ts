import { createCronCalendar } from '../../../adapters/cron/croner.ts';
import { hasCode } from '../../../ports/errors.ts';
import type { Fire, ScheduledJob } from '../../../ports/schedule.ts';
import { formatDuration } from '../../cli/render/figures.ts';
import { deliveryText } from '../../schedule/job.ts';
import { zonedText } from '../../schedule/zone.ts';
import { chatOf } from '../delivery.ts';
import { planViewOf } from '../sessions.ts';
import type { CommandCall } from './command.ts';
import { sayPlan } from './say-plan.ts';

const MAX_LISTED = 20;
const NAME_CHARS = 40;
const LOOKED_AT = 20;

export function nameOf({ job }: ScheduledJob): string {
  return cutName(job.name);
}

function cutName(name: string): string {
  const points = [...name.replaceAll(/\s+/g, ' ')];
  return points.length <= NAME_CHARS ? points.join('') : `${points.slice(0, NAME_CHARS - 1).join('')}…`;
}

/** The next due time of a job, in its zone; undefined where there is none. */
export function nextText({ job }: ScheduledJob, now: number): string | undefined {
  if (!job.enabled) return undefined;
  const found = createCronCalendar().parse(job.cron, job.timezone);
  const next = 'fault' in found ? undefined : found.next(now, 1)[0];
  return next === undefined ? undefined : zonedText(next, job.timezone);
}

function fireText(fire: Fire, timezone: string): string {
  const what = fire.state === 'ran' ? (fire.outcome ?? 'ran') : fire.state;
  return `${what}, due ${zonedText(fire.dueAt, timezone).slice(0, 16)}`;
}

/** Whether a job is this chat's own: its results come here. */
export function isOwnJob({ job }: ScheduledJob, call: Pick<CommandCall, 'place' | 'bot'>): boolean {
  return job.deliver.kind === 'telegram' && chatOf(job.deliver.chatId, call.bot.base.config) === call.place.chatId;
}

/** `/schedules`: what there is, and when it is due. */
export async function listSchedules({ bot, reply }: CommandCall): Promise<void> {
  const { store, clock } = bot.base;
  const jobs = await store.schedules.jobs.list();
  if (jobs.length === 0) return reply('There are no jobs. /schedule add <cron> <task> makes one.');
  const lines = jobs.slice(0, MAX_LISTED).map((each) => {
    const { job } = each;
    const next = nextText(each, clock.now());
    return `${job.enabled ? '🟢' : '⚪️'} ${nameOf(each)} (${job.id})\n   ${job.cron} ${job.timezone} → ${deliveryText(job.deliver)}\n   next: ${next ?? '–'}`;
  });
  const more = jobs.length > MAX_LISTED ? [`… and ${jobs.length - MAX_LISTED} more: odek schedule list`] : [];
  await reply(['🗓 Scheduled jobs', ...lines, ...more].join('\n'));
}

/** Background jobs of this conversation, the newest of them; empty where there are none. */
async function backgroundLines({ bot, place }: CommandCall): Promise<readonly string[]> {
  const found = (await bot.agents.jobsOf(place)).slice(-MAX_LISTED);
  const lines = found.map(({ id, command, status, runtimeMs, exitCode }) => {
    const end = exitCode === undefined ? status : `${status} ${exitCode}`;
    return `${status === 'running' ? '▶️ ' : ''}${id}: ${end}, ${formatDuration(runtimeMs)}\n   ${cutName(bot.base.mask(command))}`;
  });
  return lines.length === 0 ? [] : ['', '🐚 Commands in the background of this conversation', ...lines];
}

/** `/jobs`: what runs now, what ran last, and what comes; and what this conversation runs in the background. */
export async function showJobs(call: CommandCall): Promise<void> {
  const { bot, reply } = call;
  const { store, clock } = bot.base;
  const { jobs, fires, leases } = store.schedules;
  const [all, open, holder] = await Promise.all([jobs.list(), fires.find({ unfinished: true, limit: 100 }), leases.holder()]);
  const lines = all.slice(0, MAX_LISTED).map((each) => {
    const { job, lastFire } = each;
    const now = open.find(({ jobId, orphaned }) => jobId === job.id && !orphaned);
    const next = nextText(each, clock.now());
    const state = now === undefined ? (lastFire === undefined ? 'never ran' : fireText(lastFire, job.timezone)) : `▶️ ${now.state}`;
    return `${nameOf(each)}: ${state}${next === undefined ? '' : `\n   next ${next}`}`;
  });
  const who = holder === undefined ? 'No scheduler is running.' : `The scheduler is odek ${holder.surface} (process ${holder.pid}).`;
  await reply([`⚙️ Jobs`, ...(lines.length === 0 ? ['There are none.'] : lines), who, ...(await backgroundLines(call))].join('\n'));
}

/** `/plan_status <job>`: the plan of a job's running, else its newest session; for admins and the job's own chat. */
export async function showJobPlan(call: CommandCall, idOrName: string): Promise<void> {
  const { store } = call.bot.base;
  const found = await store.schedules.jobs.get(idOrName);
  const refusal = `There is no job ${JSON.stringify(idOrName)} here; /jobs lists them.`;
  if (found === undefined) return call.reply(refusal);
  if (!call.isAdmin && !isOwnJob(found, call))
    return call.reply('⛔ The plan of this job is for admins and for the chat that gets its results.');
  const { job } = found;
  const open = await store.schedules.fires.find({ jobId: job.id, unfinished: true, limit: LOOKED_AT });
  const newest = await store.schedules.fires.find({ jobId: job.id, limit: LOOKED_AT });
  const running = open.find(({ sessionId, orphaned }) => sessionId !== undefined && !orphaned);
  const fire = running ?? newest.find(({ sessionId }) => sessionId !== undefined);
  if (fire?.sessionId === undefined) return call.reply(`Job ${nameOf(found)} has not run yet.`);
  const head = `🗓 ${nameOf(found)}: ${running === undefined ? fireText(fire, job.timezone) : `running, due ${zonedText(fire.dueAt, job.timezone).slice(0, 16)}`}`;
  try {
    const { records } = await store.sessions.read(fire.sessionId);
    await sayPlan(call, planViewOf(records), head);
  } catch (error) {
    if (!hasCode(error, 'session_not_found')) throw error;
    await call.reply(`${head}\nIts session is gone.`);
  }
}
