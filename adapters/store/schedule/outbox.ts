import { type Delivery, type DeliveryEnd, type DeliveryOutbox, type DeliveryTarget, ScheduleError } from '../../../ports/schedule.ts';
import type { Database } from '../database.ts';
import { isGone } from '../process-identity.ts';
import type { SchedulerOwner } from './leases.ts';

interface DeliveryRow {
  readonly id: number;
  readonly job: string;
  readonly job_name: string;
  readonly due_at: number;
  readonly session_id: string | null;
  readonly target: string;
  readonly text: string;
  readonly state: string;
  readonly attempts: number;
  readonly maybe_repeat: number;
  readonly last_error: string | null;
  readonly created_at: number;
  readonly next_at: number;
  readonly owner_pid: number | null;
  readonly owner_start: string | null;
}

const COLUMNS =
  'id, job, job_name, due_at, session_id, target, text, state, attempts, maybe_repeat, last_error, created_at, next_at, owner_pid, owner_start';
const OF_KIND = "json_extract(target, '$.kind') IN (SELECT value FROM json_each(?))";
const DUE = `SELECT ${COLUMNS} FROM schedule_deliveries WHERE state = 'pending' AND next_at <= ? AND ${OF_KIND}
  AND (? IS NULL OR job = ?) ORDER BY id LIMIT 1`;
const SENDING = `SELECT ${COLUMNS} FROM schedule_deliveries WHERE state = 'sending' AND ${OF_KIND} ORDER BY id`;
const TAKE = `UPDATE schedule_deliveries SET state = 'sending', attempts = attempts + 1, owner_pid = ?, owner_start = ? WHERE id = ?`;
const UNCERTAIN = "UPDATE schedule_deliveries SET state = 'pending', maybe_repeat = 1, next_at = ? WHERE id = ?";
const SETTLE = `UPDATE schedule_deliveries SET state = ?, last_error = ?, next_at = ?, settled_at = ?
  WHERE id = ? AND state = 'sending' AND attempts = ? AND owner_pid = ? AND owner_start = ?`;

function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    jobId: row.job,
    jobName: row.job_name,
    dueAt: row.due_at,
    target: JSON.parse(row.target) as DeliveryTarget,
    text: row.text,
    state: row.state as Delivery['state'],
    attempts: row.attempts,
    maybeRepeat: row.maybe_repeat === 1,
    createdAt: row.created_at,
    nextAt: row.next_at,
    ...(row.session_id !== null && { sessionId: row.session_id }),
    ...(row.last_error !== null && { lastError: row.last_error }),
  };
}

/** The {@link DeliveryOutbox} over one database connection. */
export function openOutbox(db: Database, owner: SchedulerOwner): DeliveryOutbox {
  const isGoneSender = (row: DeliveryRow): boolean => {
    const isOwn = row.owner_pid === owner.pid && row.owner_start === owner.start;
    return !isOwn && isGone({ pid: row.owner_pid ?? 0, start: row.owner_start ?? '' });
  };

  const take = (kinds: readonly DeliveryTarget['kind'][], now: number, jobId: string | null): Delivery | undefined => {
    const wanted = JSON.stringify(kinds);
    for (const row of db.all<DeliveryRow>(SENDING, wanted)) if (isGoneSender(row)) db.run(UNCERTAIN, now, row.id);
    const due = db.get<DeliveryRow>(DUE, now, wanted, jobId, jobId);
    if (due === undefined) return undefined;
    db.run(TAKE, owner.pid, owner.start, due.id);
    return { ...toDelivery(due), state: 'sending', attempts: due.attempts + 1 };
  };

  const settle = ({ id, attempts }: Delivery, end: DeliveryEnd, now: number): void => {
    const again = end.state === 'failed' ? end.retryAt : undefined;
    const state = again === undefined ? end.state : 'pending';
    const error = end.state === 'failed' ? end.error : null;
    const settledAt = again === undefined ? now : null;
    if (db.run(SETTLE, state, error, again ?? now, settledAt, id, attempts, owner.pid, owner.start) === 1) return;
    throw new ScheduleError('claim_lost', `delivery ${id} is not this process's any more`, { value: id });
  };

  return {
    take: async (kinds, now, jobId) => db.transaction(() => take(kinds, now, jobId ?? null)),
    settle: async (delivery, end, now) => settle(delivery, end, now),
    list: async (limit) =>
      db.all<DeliveryRow>(`SELECT ${COLUMNS} FROM schedule_deliveries ORDER BY id DESC LIMIT ?`, limit).map(toDelivery),
  };
}
