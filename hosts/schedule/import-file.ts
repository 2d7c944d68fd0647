import { ScheduleError, type ScheduleJob } from '../../ports/schedule.ts';
import { isObject } from '../config/check-value.ts';
import { checkedJob, type JobInput, type JobPlace } from './job.ts';

/** Bytes of a file of jobs. */
export const MAX_IMPORT_BYTES = 10 * 1024 * 1024;
const MAX_JOBS = 1_000;

/** What a file of jobs holds. */
export interface ImportedJobs {
  readonly jobs: readonly ScheduleJob[];
  /** Why each of the others cannot be taken; one line each, beginning with its place in the file. */
  readonly faults: readonly string[];
}

export interface ImportPlace extends Omit<JobPlace, 'taken'> {
  /** Where the jobs will work; the file does not say. */
  readonly workspace: string;
  /** Jobs that are there already. */
  readonly present: readonly Pick<ScheduleJob, 'id' | 'name'>[];
}

function unreadable(path: string, why: string, cause?: unknown): ScheduleError {
  return new ScheduleError('invalid_job', `${path} cannot be imported: ${why}`, { value: path, cause });
}

const KNOWN = ['id', 'name', 'cron', 'task', 'deliver', 'enabled', 'catchup', 'timezone', 'created_at'];

function textOf(entry: Readonly<Record<string, unknown>>, field: string): string | undefined {
  const value = entry[field];
  if (value === undefined || value === null || (value === '' && field !== 'task' && field !== 'cron')) return undefined;
  if (typeof value !== 'string') throw new ScheduleError('invalid_job', `${field} must be a text, not ${JSON.stringify(value)}`, { value });
  return value;
}

function switchOf(entry: Readonly<Record<string, unknown>>, field: string): boolean | undefined {
  const value = entry[field];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'boolean')
    throw new ScheduleError('invalid_job', `${field} must be true or false, not ${JSON.stringify(value)}`, { value });
  return value;
}

function deliverOf({ deliver }: Readonly<Record<string, unknown>>): string | undefined {
  if (deliver === undefined || deliver === null) return undefined;
  if (!isObject(deliver) || typeof deliver.kind !== 'string') {
    throw new ScheduleError('invalid_job', `deliver must be an object with a kind, not ${JSON.stringify(deliver)}`, { value: deliver });
  }
  const chat = deliver.chat_id;
  const hasChat = chat !== undefined && chat !== null && chat !== '' && chat !== 0;
  return hasChat ? `${deliver.kind}:${String(chat)}` : deliver.kind;
}

function createdOf({ created_at: at }: Readonly<Record<string, unknown>>): number | undefined {
  const ms = typeof at === 'string' ? Date.parse(at) : typeof at === 'number' ? (at < 1e11 ? at * 1000 : at) : Number.NaN;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

/** Only what the entry has: an absent field comes from the configuration. */
function present<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

function inputOf(entry: unknown, workspace: string): JobInput {
  if (!isObject(entry))
    throw new ScheduleError('invalid_job', `an entry must be an object, not ${JSON.stringify(entry)}`, { value: entry });
  const unknown = Object.keys(entry).filter((field) => !KNOWN.includes(field));
  if (unknown.length > 0) throw new ScheduleError('invalid_job', `unknown field ${unknown.join(', ').slice(0, 200)}`, { value: unknown });
  return {
    ...present({
      id: textOf(entry, 'id'),
      name: textOf(entry, 'name'),
      timezone: textOf(entry, 'timezone'),
      deliver: deliverOf(entry),
      enabled: switchOf(entry, 'enabled'),
      catchUp: switchOf(entry, 'catchup'),
      createdAt: createdOf(entry),
    }),
    cron: textOf(entry, 'cron') ?? '',
    task: textOf(entry, 'task') ?? '',
    workspace,
  };
}

/**
 * Checks the text of a `schedules.json`: `{version: 1, jobs: […]}`. Throws {@link ScheduleError} `invalid_job` where the file as
 * a whole is none; an entry that cannot be taken is a fault.
 */
export function readJobsFile(path: string, text: string, place: ImportPlace): ImportedJobs {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw unreadable(path, `it is not JSON (${(cause as Error).message})`, cause);
  }
  if (!isObject(document) || !Array.isArray(document.jobs)) throw unreadable(path, 'it is not an object with "jobs", a list');
  if (document.version !== 1) throw unreadable(path, `its version is ${JSON.stringify(document.version)}; odek knows version 1`);
  const room = MAX_JOBS - place.present.length;
  if (document.jobs.length > room) throw unreadable(path, `it has ${document.jobs.length} jobs, and there is room for ${room}`);
  const jobs: ScheduleJob[] = [];
  const faults: string[] = [];
  for (const [at, entry] of document.jobs.entries()) {
    const held = [...place.present, ...jobs];
    try {
      const job = checkedJob(inputOf(entry, place.workspace), { ...place, taken: held.map(({ name }) => name) });
      const same = held.find(({ id, name }) => id === job.id || name === job.name);
      if (same)
        throw new ScheduleError('job_name_taken', `its ${same.id === job.id ? 'id' : 'name'} belongs to ${same.id} (${same.name})`, {
          value: job.name,
        });
      jobs.push(job);
    } catch (error) {
      const name = isObject(entry) && typeof entry.name === 'string' ? ` ${JSON.stringify(entry.name.slice(0, 64))}` : '';
      faults.push(`jobs[${at}]${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { jobs, faults };
}
