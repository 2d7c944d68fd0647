import type { Clock } from '../../../ports/clock.ts';
import {
  type Advance,
  type Fire,
  type FireClaim,
  type FireEnd,
  type FireLedger,
  type FireQuery,
  ScheduleError,
  type ScheduleJob,
} from '../../../ports/schedule.ts';
import type { Database } from '../database.ts';
import { isGone } from '../process-identity.ts';
import { FIRE_COLUMNS, type FireRow, toFire, UNFINISHED } from './fire-rows.ts';
import { mustHold, type SchedulerOwner } from './leases.ts';

/** A run that is this far past its time limit is not going on, whatever its process does. */
const OVERDUE_MS = 10 * 60_000;

const INSERT = `INSERT INTO schedule_fires (job, due_at, manual, state, reason, ended_at, owner_pid, owner_start, token, deadline)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
const CLAIM_QUEUED = `UPDATE schedule_fires SET state = 'claimed', owner_pid = ?, owner_start = ?, token = ?, deadline = ?
  WHERE job = ? AND due_at = ? AND state = 'queued'`;
const START = `UPDATE schedule_fires SET state = 'running', session_id = ?, run_id = ?, started_at = ?
  WHERE job = ? AND due_at = ? AND manual = ? AND token = ? AND state = 'claimed'`;
const END = `UPDATE schedule_fires SET state = ?, reason = ?, outcome = ?, result = ?, tokens = ?, ended_at = ?, token = NULL
  WHERE job = ? AND due_at = ? AND manual = ?`;
const DELIVER = `INSERT INTO schedule_deliveries (job, job_name, due_at, session_id, target, text, state, created_at, next_at)
  VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?)`;
const ONE = `SELECT ${FIRE_COLUMNS}, deadline FROM schedule_fires WHERE job = ? AND due_at = ? AND manual = ?`;

type Row = FireRow & { readonly deadline: number | null };

/** The {@link FireLedger} over one database connection. `owner` is this process, which runs fires and may die. */
export function openFires(db: Database, owner: SchedulerOwner, clock: Clock): FireLedger {
  const isOrphaned = (row: Row): boolean => {
    if (row.state !== 'claimed' && row.state !== 'running') return false;
    if (row.deadline !== null && clock.now() > row.deadline + OVERDUE_MS) return true;
    const isOwn = row.owner_pid === owner.pid && row.owner_start === owner.start;
    return !isOwn && isGone({ pid: row.owner_pid ?? 0, start: row.owner_start ?? '' });
  };

  const jobRow = (id: string): { readonly job: ScheduleJob; readonly revision: number; readonly cursor: number } | undefined => {
    const row = db.get<{ json: string; revision: number; cursor: number }>(
      'SELECT json, revision, cursor FROM schedule_jobs WHERE id = ?',
      id,
    );
    return row && { job: JSON.parse(row.json) as ScheduleJob, revision: row.revision, cursor: row.cursor };
  };

  const isUnderWay = (jobId: string): boolean =>
    db
      .all<Row>(`SELECT ${FIRE_COLUMNS}, deadline FROM schedule_fires WHERE job = ? AND state IN ('claimed', 'running')`, jobId)
      .some((row) => !isOrphaned(row));

  const insert = (jobId: string, dueAt: number, manual: boolean, state: string, how: { reason?: string; deadline?: number }): FireClaim => {
    const token = state === 'claimed' ? owner.token() : null;
    const mine = state === 'claimed' ? [owner.pid, owner.start] : [null, null];
    const endedAt = state === 'skipped' || state === 'missed' ? clock.now() : null;
    const values = [jobId, dueAt, Number(manual), state, how.reason ?? null, endedAt, ...mine, token, how.deadline ?? null];
    if (db.run(INSERT, ...values) === 0) {
      throw new ScheduleError('claim_lost', `the instant ${new Date(dueAt).toISOString()} of ${jobId} has a record already`, {
        value: dueAt,
      });
    }
    return { jobId, dueAt, manual, token: token ?? '' };
  };

  const advance = (decision: Advance): FireClaim | undefined => {
    const found = jobRow(decision.jobId);
    if (found === undefined || found.revision !== decision.revision || found.cursor !== decision.from) return undefined;
    // A run by hand may have begun since the decision: it has to be made again, by the job's rule for overlaps.
    if (decision.claim?.state === 'claimed' && isUnderWay(decision.jobId)) return undefined;
    for (const { dueAt, state, reason } of decision.closed) insert(decision.jobId, dueAt, false, state, { reason });
    const { claim } = decision;
    const deadline = clock.now() + found.job.timeoutMs;
    const made = claim && insert(decision.jobId, claim.dueAt, false, claim.state, claim.state === 'claimed' ? { deadline } : {});
    db.run('UPDATE schedule_jobs SET cursor = ? WHERE id = ?', decision.to, decision.jobId);
    return claim?.state === 'claimed' ? made : undefined;
  };

  const claim = (jobId: string, what: { readonly at: number } | { readonly queued: number }): FireClaim | undefined => {
    const found = jobRow(jobId);
    if (found === undefined || isUnderWay(jobId)) return undefined;
    const deadline = clock.now() + found.job.timeoutMs;
    if ('at' in what) return insert(jobId, what.at, true, 'claimed', { deadline });
    const token = owner.token();
    const taken = db.run(CLAIM_QUEUED, owner.pid, owner.start, token, deadline, jobId, what.queued) === 1;
    return taken ? { jobId, dueAt: what.queued, manual: false, token } : undefined;
  };

  const mayEnd = (held: FireClaim | Fire, row: Row | undefined): row is Row => {
    if (row === undefined || !['claimed', 'queued', 'running'].includes(row.state)) return false;
    if ('token' in held) return row.token === held.token;
    return row.state === 'queued' || isOrphaned(row);
  };

  const finish = (held: FireClaim | Fire, end: FireEnd, now: number): void => {
    const key = [held.jobId, held.dueAt, Number(held.manual)] as const;
    const row = db.get<Row>(ONE, ...key);
    if (!mayEnd(held, row)) throw lost(held);
    db.run(END, end.state, end.reason ?? null, end.outcome ?? null, end.result ?? null, end.tokens ?? null, now, ...key);
    const name = jobRow(held.jobId)?.job.name ?? held.jobId;
    for (const { target, text } of end.deliveries) {
      db.run(DELIVER, held.jobId, name, held.dueAt, row.session_id, JSON.stringify(target), text, now, now);
    }
  };

  return {
    async advance(decision, lease) {
      return db.transaction(() => {
        mustHold(db, lease);
        return advance(decision);
      });
    },
    claim: async (jobId, what) => db.transaction(() => claim(jobId, what)),
    async start(held, { sessionId, runId }, now) {
      const changed = db.run(START, sessionId, runId, now, held.jobId, held.dueAt, Number(held.manual), held.token);
      if (changed === 0) throw lost(held);
    },
    finish: async (held, end, now) => db.transaction(() => finish(held, end, now)),
    find: async (query) => db.all<Row>(...selection(query)).map((row) => toFire(row, isOrphaned(row))),
  };
}

function lost({ jobId, dueAt }: FireClaim | Fire): ScheduleError {
  const instant = new Date(dueAt).toISOString();
  return new ScheduleError('claim_lost', `the run of ${jobId} for ${instant} is not this process's any more`, { value: dueAt });
}

function selection({ jobId, unfinished, since, limit }: FireQuery): [sql: string, ...values: (string | number)[]] {
  const wheres: string[] = [];
  const values: (string | number)[] = [];
  if (unfinished) wheres.push(`state IN (${UNFINISHED})`);
  if (jobId !== undefined) {
    wheres.push('job = ?');
    values.push(jobId);
  }
  if (since !== undefined) {
    wheres.push('due_at >= ?');
    values.push(since);
  }
  const where = wheres.length > 0 ? `WHERE ${wheres.join(' AND ')}` : '';
  const order = unfinished ? 'ASC' : 'DESC';
  return [`SELECT ${FIRE_COLUMNS}, deadline FROM schedule_fires ${where} ORDER BY due_at ${order}, job LIMIT ?`, ...values, limit];
}
