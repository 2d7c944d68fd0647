import type { Delivery, Fire, ScheduledJob } from '../../../ports/schedule.ts';
import { deliveryText } from '../../schedule/job.ts';

const iso = (at: number): string => new Date(at).toISOString();

/** A job as `--json` prints it. */
export function jobJson({ job, runs, lastFire }: ScheduledJob, next: number | undefined): object {
  return {
    id: job.id,
    name: job.name,
    cron: job.cron,
    timezone: job.timezone,
    enabled: job.enabled,
    task: job.task,
    deliver: deliveryText(job.deliver),
    catchup: job.catchUp,
    overlap: job.overlap,
    session: job.session,
    workspace: job.workspace,
    ...(job.model !== undefined && { model: job.model }),
    limits: job.limits,
    daily_tokens: job.dailyTokens,
    timeout_seconds: job.timeoutMs / 1000,
    created_at: iso(job.createdAt),
    runs,
    ...(next !== undefined && { next: iso(next) }),
    ...(lastFire && { last: fireJson(lastFire) }),
  };
}

/** What became of a due time, as `--json` prints it. */
export function fireJson(fire: Fire): object {
  return {
    job_id: fire.jobId,
    due_at: iso(fire.dueAt),
    by_hand: fire.manual,
    state: fire.state,
    ...(fire.outcome !== undefined && { outcome: fire.outcome }),
    ...(fire.reason !== undefined && { reason: fire.reason }),
    ...(fire.sessionId !== undefined && { session_id: fire.sessionId }),
    ...(fire.runId !== undefined && { run_id: fire.runId }),
    ...(fire.startedAt !== undefined && { started_at: iso(fire.startedAt) }),
    ...(fire.endedAt !== undefined && { ended_at: iso(fire.endedAt) }),
    ...(fire.tokens !== undefined && { tokens: fire.tokens }),
    ...(fire.result !== undefined && { result: fire.result }),
  };
}

/** A result on its way, as `--json` prints it. */
export function deliveryJson(delivery: Delivery): object {
  return {
    id: delivery.id,
    job_id: delivery.jobId,
    job: delivery.jobName,
    due_at: iso(delivery.dueAt),
    to: deliveryText(delivery.target),
    state: delivery.state,
    attempts: delivery.attempts,
    possible_repeat: delivery.maybeRepeat,
    ...(delivery.lastError !== undefined && { error: delivery.lastError }),
    ...(delivery.state === 'pending' && { not_before: iso(delivery.nextAt) }),
    ...(delivery.sessionId !== undefined && { session_id: delivery.sessionId }),
    text: delivery.text,
  };
}
