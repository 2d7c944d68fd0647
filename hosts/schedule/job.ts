import { isAbsolute, resolve } from 'node:path';
import type { BudgetLimits } from '../../ports/budget.ts';
import type { CronCalendar, CronSchedule } from '../../ports/cron-calendar.ts';
import type { Ids } from '../../ports/ids.ts';
import { type DeliveryTarget, ScheduleError, type ScheduleJob } from '../../ports/schedule.ts';
import type { SchedulesConfig } from '../config/types.ts';
import { isInside } from './deliver/file.ts';

/** A job as somebody wrote it down. What is absent comes from the configuration. */
export interface JobInput {
  readonly id?: string;
  /** Absent: the first words of the task. */
  readonly name?: string;
  readonly cron: string;
  readonly timezone?: string;
  readonly task: string;
  /** `stdout`, `log`, `telegram`, `telegram:<chat>`, `telegram:<chat>:<topic>`, `file:<path>` or `webhook:<url>`. */
  readonly deliver?: string;
  readonly enabled?: boolean;
  readonly catchUp?: boolean;
  readonly overlap?: ScheduleJob['overlap'];
  readonly session?: ScheduleJob['session'];
  /** Absolute. */
  readonly workspace: string;
  readonly model?: string;
  readonly limits?: BudgetLimits;
  readonly dailyTokens?: number;
  readonly timeoutSeconds?: number;
  readonly createdAt?: number;
}

export interface JobPlace {
  readonly calendar: CronCalendar;
  readonly schedules: SchedulesConfig;
  readonly ids: Ids;
  readonly now: number;
  /** Names that other jobs have. A name that is made up keeps clear of them. */
  readonly taken: readonly string[];
}

const MAX_NAME = 64;
const MAX_TASK = 65_536;
const MAX_CRON = 256;
const MAX_TIMEOUT_S = 86_400;
const MAX_URL = 2_048;
const ID_BYTES = 4;
const NAME_WORDS = 6;
const ID = /^jb-[0-9a-f]{8}$/;
const CHAT = /^(-?\d{1,19})(?::([1-9]\d{0,14}))?$/;
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

export const DELIVERY_FORMS = 'stdout, log, telegram, telegram:<chat>, file:<path> or webhook:<url>';

function invalid(what: string, value: unknown, limit: unknown): ScheduleError {
  const shown = JSON.stringify(value) ?? String(value);
  const text = `${what} must be ${String(limit)}, not ${shown.length <= 80 ? shown : `${shown.slice(0, 79)}…`}`;
  return new ScheduleError('invalid_job', text, { value, limit });
}

/** Whether text is the id of a job and no name. */
export function isJobId(text: string): boolean {
  return ID.test(text);
}

function checkedName(name: string): string {
  const text = name.trim();
  const points = [...text].length;
  if (points < 1 || points > MAX_NAME || CONTROLS.test(text)) throw invalid('the name', name, `1 to ${MAX_NAME} characters of one line`);
  if (isJobId(text)) throw invalid('the name', name, 'something else than the id of a job');
  return text;
}

/** The first words of a task, with a number behind them where that name is taken. */
function madeUpName(task: string, taken: readonly string[]): string {
  const words = task
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .split(' ')
    .slice(0, NAME_WORDS)
    .join(' ');
  const base =
    [...words]
      .slice(0, MAX_NAME - 4)
      .join('')
      .trim() || 'job';
  if (!taken.includes(base) && !isJobId(base)) return base;
  for (let number = 2; ; number += 1) if (!taken.includes(`${base} ${number}`)) return `${base} ${number}`;
}

function webhookOf(text: string, { webhook_secret }: SchedulesConfig): DeliveryTarget {
  const url = URL.canParse(text) && text.length <= MAX_URL ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '' || url.hash !== '') {
    throw invalid(
      'deliver webhook:',
      text,
      `an http or https address of at most ${MAX_URL} characters, without user, password and fragment`,
    );
  }
  if (webhook_secret === undefined) {
    throw new ScheduleError(
      'invalid_job',
      'deliver webhook: needs schedules.webhook_secret, which signs what is sent; set ODEK_SCHEDULES_WEBHOOK_SECRET in secrets.env',
      { value: text },
    );
  }
  return { kind: 'webhook', url: url.href };
}

function fileOf(text: string, workspace: string, { deliver_folders }: SchedulesConfig): DeliveryTarget {
  const path = resolve(workspace, text);
  const folders = [workspace, ...deliver_folders];
  if (text === '' || text.includes('\0') || text.endsWith('/') || !folders.some((folder) => path !== folder && isInside(path, folder))) {
    throw invalid('deliver file:', text, `a file in ${folders.join(' or ')} (schedules.deliver_folders names more)`);
  }
  return { kind: 'file', path };
}

/** Reads where results go. `workspace` is absolute. Throws {@link ScheduleError} `invalid_job`. */
export function parseDelivery(text: string, workspace: string, schedules: SchedulesConfig): DeliveryTarget {
  const at = text.indexOf(':');
  const [kind, rest] = at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)];
  if ((kind === 'stdout' || kind === 'log') && rest === undefined) return { kind };
  if (kind === 'telegram' && rest === undefined) return { kind };
  const [, chatId, topicId] = kind === 'telegram' ? (CHAT.exec(rest ?? '') ?? []) : [];
  if (kind === 'telegram' && chatId !== undefined) return { kind, chatId, ...(topicId !== undefined && { topicId: Number(topicId) }) };
  if (kind === 'file' && rest !== undefined) return fileOf(rest, workspace, schedules);
  if (kind === 'webhook' && rest !== undefined) return webhookOf(rest, schedules);
  throw invalid('deliver', text, DELIVERY_FORMS);
}

/** The same in the form in which it is written. */
export function deliveryText(target: DeliveryTarget): string {
  switch (target.kind) {
    case 'telegram':
      return [target.kind, target.chatId, target.topicId].filter((part) => part !== undefined).join(':');
    case 'file':
      return `file:${target.path}`;
    case 'webhook':
      return `webhook:${target.url}`;
    default:
      return target.kind;
  }
}

function isWhole(value: number, min: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= min && value <= max;
}

function checkLimits(limits: BudgetLimits): void {
  for (const [name, value] of Object.entries(limits)) {
    const isCounted = name !== 'max_runtime_seconds' && name !== 'max_cost_usd';
    if (typeof value !== 'number' || !Number.isFinite(value) || value < 0 || (isCounted && !Number.isSafeInteger(value))) {
      throw invalid(name, value, `a ${isCounted ? 'whole ' : ''}number from 0`);
    }
  }
}

/** The schedule of a line in its zone. Throws {@link ScheduleError} `invalid_timezone` or `invalid_cron`. */
export function scheduleOf(calendar: CronCalendar, cron: string, timezone: string): CronSchedule {
  if (cron.length > MAX_CRON) {
    throw new ScheduleError('invalid_cron', `the cron line has ${cron.length} characters, the limit is ${MAX_CRON}`, {
      value: cron.length,
      limit: MAX_CRON,
    });
  }
  const zone = calendar.parse('* * * * *', timezone);
  if ('fault' in zone) throw new ScheduleError('invalid_timezone', zone.fault, { value: timezone });
  const found = calendar.parse(cron, timezone);
  if ('fault' in found) throw new ScheduleError('invalid_cron', found.fault, { value: cron });
  return found;
}

/** A job that may be stored. Throws {@link ScheduleError} `invalid_job`, `invalid_cron` or `invalid_timezone`, which name value and limit. */
export function checkedJob(input: JobInput, { calendar, schedules, ids, now, taken }: JobPlace): ScheduleJob {
  const task = input.task.trim();
  if (task === '') throw invalid('the task', input.task, 'text that is not empty');
  if (task.length > MAX_TASK)
    throw invalid('the length of the task', task.length, `at most ${MAX_TASK} characters; put the rest into a file and name it`);
  const timezone = input.timezone ?? schedules.timezone;
  scheduleOf(calendar, input.cron, timezone);
  if (!isAbsolute(input.workspace)) throw invalid('the workspace', input.workspace, 'an absolute path');
  const timeout = input.timeoutSeconds ?? schedules.run_timeout_seconds;
  if (!isWhole(timeout, 1, MAX_TIMEOUT_S)) throw invalid('timeout', timeout, `a whole number of seconds from 1 to ${MAX_TIMEOUT_S}`);
  const dailyTokens = input.dailyTokens ?? 0;
  if (!isWhole(dailyTokens, 0, Number.MAX_SAFE_INTEGER)) throw invalid('daily-tokens', dailyTokens, 'a whole number from 0');
  const limits = input.limits ?? {};
  checkLimits(limits);
  if (input.id !== undefined && !isJobId(input.id)) throw invalid('the id', input.id, 'jb- and 8 hex digits');
  return {
    id: input.id ?? `jb-${ids.hex(ID_BYTES)}`,
    name: input.name === undefined ? madeUpName(task, taken) : checkedName(input.name),
    cron: input.cron.trim(),
    timezone,
    task,
    deliver: parseDelivery(input.deliver ?? 'stdout', input.workspace, schedules),
    enabled: input.enabled ?? true,
    catchUp: input.catchUp ?? schedules.catchup,
    overlap: input.overlap ?? 'skip',
    session: input.session ?? 'fresh',
    workspace: input.workspace,
    ...(input.model !== undefined && { model: input.model }),
    limits,
    dailyTokens,
    timeoutMs: timeout * 1000,
    createdAt: input.createdAt ?? now,
    ...followed(input),
  };
}

function followed(input: JobInput): Pick<ScheduleJob, 'follows'> {
  const follows = (['timezone', 'catchUp'] as const).filter((field) => input[field] === undefined);
  return follows.length > 0 ? { follows } : {};
}

/** The job with what it takes from the configuration as that is now; undefined where nothing differs. Throws like {@link scheduleOf}. */
export function asConfigured(job: ScheduleJob, calendar: CronCalendar, { timezone, catchup }: SchedulesConfig): ScheduleJob | undefined {
  const follows = job.follows ?? [];
  const now: ScheduleJob = {
    ...job,
    ...(follows.includes('timezone') && { timezone }),
    ...(follows.includes('catchUp') && { catchUp: catchup }),
  };
  if (now.timezone === job.timezone && now.catchUp === job.catchUp) return undefined;
  scheduleOf(calendar, now.cron, now.timezone);
  return now;
}

/** A job after a change: what the change does not name stays, its id and age among it. Throws like {@link checkedJob}. */
export function changedJob(job: ScheduleJob, change: Partial<Omit<JobInput, 'id' | 'createdAt'>>, place: JobPlace): ScheduleJob {
  const { name, cron, task, enabled, overlap, session, workspace, dailyTokens, createdAt, id } = job;
  const follows = job.follows ?? [];
  const before = {
    ...{ id, name, cron, task, enabled, overlap, session, workspace, dailyTokens, createdAt, timeoutSeconds: job.timeoutMs / 1000 },
    ...(!follows.includes('timezone') && { timezone: job.timezone }),
    ...(!follows.includes('catchUp') && { catchUp: job.catchUp }),
    ...(job.model !== undefined && { model: job.model }),
  };
  // A place that was allowed once is looked at again only where it may be another.
  const isMoved = change.deliver !== undefined || change.workspace !== undefined;
  const deliver = change.deliver ?? (isMoved ? deliveryText(job.deliver) : 'stdout');
  const changed = checkedJob({ ...before, ...change, limits: { ...job.limits, ...change.limits }, deliver }, place);
  return isMoved ? changed : { ...changed, deliver: job.deliver };
}
