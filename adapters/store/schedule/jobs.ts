import { type Fire, type ScheduledJob, ScheduleError, type ScheduleJob, type ScheduleStore } from '../../../ports/schedule.ts';
import type { Database } from '../database.ts';
import { FINAL, FIRE_COLUMNS, type FireRow, toFire } from './fire-rows.ts';

const MAX_JOBS = 1_000;

interface JobRow {
  readonly id: string;
  readonly json: string;
  readonly revision: number;
  readonly cursor: number;
}

const BY_NAME = 'SELECT id, json, revision, cursor FROM schedule_jobs ORDER BY name';
const BY_EITHER = 'SELECT id, json, revision, cursor FROM schedule_jobs WHERE id = ? OR name = ? ORDER BY id = ? DESC LIMIT 1';
const INSERT = 'INSERT INTO schedule_jobs (id, name, json, revision, cursor) VALUES (?, ?, ?, 1, ?)';
const UPDATE = 'UPDATE schedule_jobs SET name = ?, json = ?, revision = revision + 1, cursor = ? WHERE id = ?';
const NEWEST = `SELECT ${FIRE_COLUMNS} FROM schedule_fires WHERE job = ? AND state IN (${FINAL}) ORDER BY due_at DESC LIMIT 1`;
const NEWEST_RUN = `SELECT ${FIRE_COLUMNS} FROM schedule_fires WHERE job = ? AND state = 'ran' ORDER BY due_at DESC LIMIT 1`;
const COUNT_RUNS = "SELECT count(*) AS runs FROM schedule_fires WHERE job = ? AND state = 'ran'";
/** The newest fire of a job proves up to where its schedule was looked at. */
const PRUNE_FIRES = `DELETE FROM schedule_fires WHERE state IN (${FINAL}) AND ended_at < ?
  AND (job NOT IN (SELECT id FROM schedule_jobs)
    OR due_at < (SELECT max(due_at) FROM schedule_fires newer WHERE newer.job = schedule_fires.job))`;
const PRUNE_DELIVERIES = "DELETE FROM schedule_deliveries WHERE state IN ('sent', 'failed') AND settled_at IS NOT NULL AND settled_at < ?";

function toJob(db: Database, row: JobRow): ScheduledJob {
  const one = (sql: string): Fire | undefined => {
    const found = db.get<FireRow>(sql, row.id);
    return found && toFire(found, false);
  };
  const lastFire = one(NEWEST);
  const lastRun = one(NEWEST_RUN);
  return {
    job: JSON.parse(row.json) as ScheduleJob,
    revision: row.revision,
    cursor: row.cursor,
    runs: db.get<{ runs: number }>(COUNT_RUNS, row.id)?.runs ?? 0,
    ...(lastFire && { lastFire }),
    ...(lastRun && { lastRun }),
  };
}

/** An instant that was not due under the old line must not be caught up under the new one. */
function beginsAnew(before: ScheduleJob, after: ScheduleJob): boolean {
  return before.cron !== after.cron || before.timezone !== after.timezone || (after.enabled && !before.enabled);
}

function store(db: Database, job: ScheduleJob, now: number): ScheduledJob {
  const named = db.get<JobRow>('SELECT id, json, revision, cursor FROM schedule_jobs WHERE name = ?', job.name);
  if (named !== undefined && named.id !== job.id) {
    throw new ScheduleError('job_name_taken', `the name ${JSON.stringify(job.name)} belongs to ${named.id}`, { value: job.name });
  }
  const before = db.get<JobRow>('SELECT id, json, revision, cursor FROM schedule_jobs WHERE id = ?', job.id);
  const json = JSON.stringify(job);
  if (before === undefined) {
    const count = db.get<{ jobs: number }>('SELECT count(*) AS jobs FROM schedule_jobs')?.jobs ?? 0;
    if (count >= MAX_JOBS) {
      throw new ScheduleError('too_many_schedules', `there are ${count} jobs; at most ${MAX_JOBS} can be kept`, {
        value: count,
        limit: MAX_JOBS,
      });
    }
    db.run(INSERT, job.id, job.name, json, now);
  } else {
    const cursor = beginsAnew(JSON.parse(before.json) as ScheduleJob, job) ? Math.max(before.cursor, now) : before.cursor;
    db.run(UPDATE, job.name, json, cursor, job.id);
  }
  const row = db.get<JobRow>('SELECT id, json, revision, cursor FROM schedule_jobs WHERE id = ?', job.id) as JobRow;
  return toJob(db, row);
}

/** The {@link ScheduleStore} over one database connection. */
export function openJobs(db: Database): ScheduleStore {
  return {
    put: async (job, now) => db.transaction(() => store(db, job, now)),
    async get(idOrName) {
      return db.snapshot(() => {
        const row = db.get<JobRow>(BY_EITHER, idOrName, idOrName, idOrName);
        return row && toJob(db, row);
      });
    },
    list: async () => db.snapshot(() => db.all<JobRow>(BY_NAME).map((row) => toJob(db, row))),
    remove: async (id) => db.run('DELETE FROM schedule_jobs WHERE id = ?', id) === 1,
    prune: async (before) => db.transaction(() => db.run(PRUNE_FIRES, before) + db.run(PRUNE_DELIVERIES, before)),
  };
}
