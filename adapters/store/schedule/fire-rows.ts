import type { Fire, FireOutcome, FireState } from '../../../ports/schedule.ts';

export interface FireRow {
  readonly job: string;
  readonly due_at: number;
  readonly manual: number;
  readonly state: string;
  readonly reason: string | null;
  readonly session_id: string | null;
  readonly run_id: string | null;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  readonly outcome: string | null;
  readonly result: string | null;
  readonly tokens: number | null;
  readonly owner_pid: number | null;
  readonly owner_start: string | null;
  readonly token: string | null;
}

export const FIRE_COLUMNS =
  'job, due_at, manual, state, reason, session_id, run_id, started_at, ended_at, outcome, result, tokens, owner_pid, owner_start, token';

/** For `IN (…)`. */
export const FINAL = "'ran', 'skipped', 'missed', 'interrupted'";
export const UNFINISHED = "'claimed', 'queued', 'running'";

export function toFire(row: FireRow, orphaned: boolean): Fire {
  return {
    jobId: row.job,
    dueAt: row.due_at,
    manual: row.manual === 1,
    state: row.state as FireState,
    orphaned,
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.session_id !== null && { sessionId: row.session_id }),
    ...(row.run_id !== null && { runId: row.run_id }),
    ...(row.started_at !== null && { startedAt: row.started_at }),
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
    ...(row.outcome !== null && { outcome: row.outcome as FireOutcome }),
    ...(row.result !== null && { result: row.result }),
    ...(row.tokens !== null && { tokens: row.tokens }),
  };
}
