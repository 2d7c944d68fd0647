import { createCronCalendar } from '../../../adapters/cron/croner.ts';
import { ConfigError } from '../../../ports/errors.ts';
import { type ScheduledJob, ScheduleError } from '../../../ports/schedule.ts';
import { checkedJob, deliveryText, type JobInput } from '../../schedule/job.ts';
import { zonedText } from '../../schedule/zone.ts';
import type { Task } from '../runs.ts';
import { type Command, type CommandCall, taskOf } from './command.ts';
import { listSchedules, nameOf, nextText, showJobs } from './jobs.ts';

const USAGE = [
  'Usage:',
  '/schedule add <5 fields or @daily …> <task> | name="…" tz=Europe/Berlin deliver=telegram catchup disabled',
  '/schedule show | rm | enable | disable | run | next <job>',
].join('\n');
const SHOWN_FIRES = 5;
const FIELDS = 5;
const OPTION = /(deliver|tz|name|catchup|disabled)(?:=(?:"([^"]*)"|'([^']*)'|(\S+)))?(?=\s|$)/y;
const TRUE = new Set(['true', 'yes', '1', 'on']);
const FALSE = new Set(['false', 'no', '0', 'off']);

type Options = Pick<JobInput, 'deliver' | 'timezone' | 'name' | 'catchUp' | 'enabled'>;

function asSwitch(name: string, value: string | undefined): boolean {
  if (value === undefined || TRUE.has(value.toLowerCase())) return true;
  if (FALSE.has(value.toLowerCase())) return false;
  throw new ConfigError('invalid_value', `${name} must be true or false, not ${JSON.stringify(value)}`, { value, limit: 'true or false' });
}

/** Options as they stand behind the last `|`; undefined where something else stands there, which then belongs to the task. */
function optionsOf(text: string): Options | undefined {
  const found: { -readonly [K in keyof Options]: Options[K] } = {};
  const rest = text.trim();
  if (rest === '') return undefined;
  for (let at = 0; at < rest.length; ) {
    OPTION.lastIndex = at;
    const match = OPTION.exec(rest);
    if (match === null) return undefined;
    const [whole, name = '', ...values] = match;
    const value = values.find((each) => each !== undefined);
    if (name === 'catchup') found.catchUp = asSwitch(name, value);
    else if (name === 'disabled') found.enabled = !asSwitch(name, value);
    else if (value === undefined) return undefined;
    else if (name === 'deliver') found.deliver = value;
    else if (name === 'tz') found.timezone = value;
    else found.name = value;
    at += whole.length;
    at += /^\s*/.exec(rest.slice(at))?.[0].length ?? 0;
  }
  return found;
}

/** The parts of `add`. Throws `ConfigError` `missing_argument`. */
export function parseAdd(text: string): Options & { readonly cron: string; readonly task: string } {
  const at = text.lastIndexOf('|');
  const options = at < 0 ? undefined : optionsOf(text.slice(at + 1));
  const words = (options === undefined ? text : text.slice(0, at)).trim();
  const count = words.startsWith('@') ? 1 : FIELDS;
  const found = new RegExp(`^((?:\\S+\\s+){${count - 1}}\\S+)(?:\\s+([\\s\\S]+))?$`).exec(words);
  const [, cron, task] = found ?? [];
  if (cron === undefined || task === undefined) throw new ConfigError('missing_argument', `a time and a task are needed.\n${USAGE}`);
  return { ...options, cron: cron.replaceAll(/\s+/g, ' '), task: task.trim() };
}

async function add(call: CommandCall, text: string): Promise<void> {
  const { base } = call.bot;
  const { jobs } = base.store.schedules;
  const parsed = parseAdd(text);
  const now = base.clock.now();
  const taken = (await jobs.list()).map(({ job }) => job.name);
  const { chatId, topicId } = call.place;
  const deliver = parsed.deliver ?? deliveryText({ kind: 'telegram', chatId: String(chatId), ...(topicId !== undefined && { topicId }) });
  const job = checkedJob(
    { ...parsed, deliver, workspace: base.workspace },
    { calendar: createCronCalendar(), schedules: base.config.schedules, ids: base.ids, now, taken },
  );
  const stored = await jobs.put(job, now);
  call.bot.reloadJobs();
  const next = nextText(stored, now);
  await call.reply(
    `✅ ${nameOf(stored)} (${job.id}): ${job.cron} in ${job.timezone}, to ${deliveryText(job.deliver)}\nnext: ${next ?? '– (disabled)'}`,
  );
}

async function named(call: CommandCall, text: string): Promise<ScheduledJob> {
  const found = text === '' ? undefined : await call.bot.base.store.schedules.jobs.get(text);
  if (found) return found;
  throw new ScheduleError('job_not_found', `there is no job ${JSON.stringify(text)}; /schedules lists them`, { value: text });
}

async function switchJob(call: CommandCall, text: string, enabled: boolean): Promise<void> {
  const { base } = call.bot;
  const found = await named(call, text);
  if (found.job.enabled !== enabled) await base.store.schedules.jobs.put({ ...found.job, enabled }, base.clock.now());
  call.bot.reloadJobs();
  await call.reply(`${enabled ? '🟢' : '⚪️'} ${nameOf(found)} is ${enabled ? 'enabled' : 'disabled'}.`);
}

async function remove(call: CommandCall, text: string): Promise<void> {
  const found = await named(call, text);
  await call.bot.base.store.schedules.jobs.remove(found.job.id);
  call.bot.reloadJobs();
  await call.reply(`🗑 ${nameOf(found)} is gone; what its runs did is kept.`);
}

async function show(call: CommandCall, text: string): Promise<void> {
  const found = await named(call, text);
  const { job, runs, lastFire } = found;
  const last =
    lastFire === undefined ? '–' : `${lastFire.outcome ?? lastFire.state} (${zonedText(lastFire.dueAt, job.timezone).slice(0, 16)})`;
  await call.reply(
    [
      `🗓 ${nameOf(found)} (${job.id})`,
      `${job.enabled ? 'enabled' : 'disabled'}, ${job.cron} in ${job.timezone}`,
      `to ${deliveryText(job.deliver)}`,
      `runs: ${runs}, last: ${last}, next: ${nextText(found, call.bot.base.clock.now()) ?? '–'}`,
      ...(lastFire?.result === undefined ? [] : ['', lastFire.result]),
      '',
      job.task.slice(0, 1_000),
    ].join('\n'),
  );
}

async function next(call: CommandCall, text: string): Promise<void> {
  const found = await named(call, text);
  const { job } = found;
  const schedule = createCronCalendar().parse(job.cron, job.timezone);
  const due = 'fault' in schedule ? [] : schedule.next(call.bot.base.clock.now(), SHOWN_FIRES);
  const off = job.enabled ? '' : ' (disabled)';
  await call.reply(
    [`${nameOf(found)}${off}`, ...(due.length === 0 ? ['  never'] : due.map((at) => `  ${zonedText(at, job.timezone)}`))].join('\n'),
  );
}

/** In the chat, with its person who can be asked: a run of its own kind, apart from the job's schedule. */
async function runHere(call: CommandCall, text: string): Promise<Task> {
  const { job } = await named(call, text);
  return taskOf(call, job.task, { original: `/schedule run ${job.name}` });
}

const READING: readonly string[] = ['', 'list', 'show', 'next'];

async function schedule(call: CommandCall): Promise<Task | undefined> {
  const [, sub = '', text = ''] = /^(\S*)\s*([\s\S]*)$/.exec(call.rest) ?? [];
  const word = sub.toLowerCase();
  const { schedules } = call.bot.base.config;
  if (!READING.includes(word)) {
    const refusal = !schedules.allow_telegram_management
      ? '⛔ Jobs are changed on the command line alone (schedules.allow_telegram_management).'
      : call.isAdmin
        ? undefined
        : '⛔ Only admins change jobs (schedules.telegram_admin_users, schedules.telegram_admin_chats).';
    if (refusal !== undefined) {
      await call.reply(refusal);
      return undefined;
    }
  }
  switch (word) {
    case 'list':
      await listSchedules(call);
      return undefined;
    case 'add':
      await add(call, text);
      return undefined;
    case 'rm':
      await remove(call, text);
      return undefined;
    case 'enable':
    case 'disable':
      await switchJob(call, text, word === 'enable');
      return undefined;
    case 'show':
      await show(call, text);
      return undefined;
    case 'next':
      await next(call, text);
      return undefined;
    case 'run':
      return runHere(call, text);
    default:
      await call.reply(USAGE);
      return undefined;
  }
}

export const SCHEDULE_COMMANDS = {
  schedules: { description: 'Scheduled jobs', run: listSchedules },
  schedule: { description: 'Add, change, show or run a scheduled job', run: schedule },
  jobs: { description: 'What runs now and what comes next', run: showJobs },
} as const satisfies Readonly<Record<string, Command>>;
