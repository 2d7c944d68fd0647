import type { BudgetLimits } from './budget.ts';
import { OdekError } from './errors.ts';

/** Where the result of a scheduled run goes. `telegram` without a chat: the configured default chat. A topic is one of that chat. */
export type DeliveryTarget =
  | { readonly kind: 'stdout' }
  | { readonly kind: 'log' }
  | { readonly kind: 'telegram'; readonly chatId?: string; readonly topicId?: number }
  /** Absolute path; the result is appended. */
  | { readonly kind: 'file'; readonly path: string }
  /** http or https; posted through the network guard, signed. */
  | { readonly kind: 'webhook'; readonly url: string };

/** A task and when it is due. Whoever stores it has checked it. */
export interface ScheduleJob {
  /** `jb-` and 8 hex digits. */
  readonly id: string;
  /** Unique; 1 to 64 characters. */
  readonly name: string;
  /** Five fields or a macro. */
  readonly cron: string;
  /** IANA name. */
  readonly timezone: string;
  readonly task: string;
  readonly deliver: DeliveryTarget;
  readonly enabled: boolean;
  /** After a gap the newest missed instant runs once; else every one of them is recorded as missed. */
  readonly catchUp: boolean;
  /** An instant that comes due while the job runs is recorded as skipped, or one is kept for afterwards. */
  readonly overlap: 'skip' | 'queue';
  /** `continue`: every run goes on with the job's own session. */
  readonly session: 'fresh' | 'continue';
  /** Absolute path of the folder the runs work in. */
  readonly workspace: string;
  /** Absent: the configured one. */
  readonly model?: string;
  readonly limits: BudgetLimits;
  /** Tokens, read and written, of a day in the job's zone; 0 is no limit. */
  readonly dailyTokens: number;
  /** Milliseconds of one run. */
  readonly timeoutMs: number;
  readonly createdAt: number;
  /** What the job does not say itself: it is as configured, and the scheduler sets it anew where that changed. */
  readonly follows?: readonly ('timezone' | 'catchUp')[];
}

/** How a due instant stands; `claimed`, `queued` and `running` are not final. */
export type FireState = 'claimed' | 'queued' | 'running' | 'ran' | 'skipped' | 'missed' | 'interrupted';

export type FireOutcome = 'answer' | 'partial' | 'budget' | 'cancelled' | 'failed';

/** One due instant of one job, or one run asked for by hand. */
export interface Fire {
  readonly jobId: string;
  /** The UTC instant, in milliseconds; of a run by hand, when it was asked for. */
  readonly dueAt: number;
  readonly manual: boolean;
  readonly state: FireState;
  /** Why it was skipped, missed or interrupted; of a run, its error. */
  readonly reason?: string;
  /** Stored before the first model call. */
  readonly sessionId?: string;
  readonly runId?: string;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** With `ran`. */
  readonly outcome?: FireOutcome;
  /** The first 280 code points of the result, redacted. */
  readonly result?: string;
  /** Read and written. */
  readonly tokens?: number;
  /** Not final, and whoever claimed it is gone or far past the run's time limit. */
  readonly orphaned: boolean;
}

/** The right to run a fire, and to end it. Only its holder can do either. */
export interface FireClaim {
  readonly jobId: string;
  readonly dueAt: number;
  readonly manual: boolean;
  readonly token: string;
}

/** A job, and where its schedule stands. */
export interface ScheduledJob {
  readonly job: ScheduleJob;
  /** Grows with every change of the job. */
  readonly revision: number;
  /** Every due instant up to here has a record. */
  readonly cursor: number;
  /** The newest fire that is final. */
  readonly lastFire?: Fire;
  /** The newest one that ran. */
  readonly lastRun?: Fire;
  readonly runs: number;
}

/**
 * Jobs.
 *
 * Contract (the `schedule-store` suite):
 * - What `put` stored is there for every process once its promise resolved: `list` gives all in name order, `get` one by id or name.
 * - A name belongs to one job: `put` of another refuses it with `job_name_taken`.
 * - A new job begins at `now`; a change of line or zone, or turning it on again, moves its cursor to `now`; any other change leaves it.
 * - At most 1,000 jobs: one more is refused with `too_many_schedules`.
 * - `remove` takes the job and leaves its fires; false: there was none.
 * - `prune` removes final fires and settled deliveries that ended before an instant, but never the newest fire of a job that is there.
 */
export interface ScheduleStore {
  put(job: ScheduleJob, now: number): Promise<ScheduledJob>;
  get(idOrName: string): Promise<ScheduledJob | undefined>;
  list(): Promise<readonly ScheduledJob[]>;
  remove(id: string): Promise<boolean>;
  /** Returns how many rows went. */
  prune(before: number): Promise<number>;
}

/** Proof of being the one scheduler of this machine. */
export interface SchedulerLease {
  /** Grows with every holder. */
  readonly fence: number;
  readonly token: string;
  /** When the holder before was last seen; absent: there was none. */
  readonly seenBefore?: number;
}

export interface SchedulerHolder {
  readonly pid: number;
  /** `schedule` or `telegram`. */
  readonly surface: string;
  readonly since: number;
  readonly beatAt: number;
}

/**
 * Which process is the scheduler.
 *
 * Contract (the `scheduler-leases` suite):
 * - `acquire` gives the lease to one process and tells every other who has it.
 * - A holder that died, or has not beaten for 60 s, is taken over with a higher fence.
 * - A lease says when the holder before it was last seen, also one that released it.
 * - `beat` of a lease that another took rejects with `lease_lost`.
 * - `release` lets the next one in at once; of a lost lease it does nothing.
 */
export interface SchedulerLeases {
  acquire(surface: string): Promise<SchedulerLease | SchedulerHolder>;
  beat(lease: SchedulerLease): Promise<void>;
  release(lease: SchedulerLease): Promise<void>;
  holder(): Promise<SchedulerHolder | undefined>;
}

/** What one look at a job decided: each instant after `from` and up to `to` gets its record in one transaction. */
export interface Advance {
  readonly jobId: string;
  readonly revision: number;
  /** The cursor that the decision was made from. */
  readonly from: number;
  readonly to: number;
  readonly closed: readonly { readonly dueAt: number; readonly state: 'skipped' | 'missed'; readonly reason: string }[];
  /** The one instant that is to run: now, or after the run that is under way. */
  readonly claim?: { readonly dueAt: number; readonly state: 'claimed' | 'queued' };
}

export interface FireEnd {
  readonly state: 'ran' | 'skipped' | 'interrupted';
  readonly outcome?: FireOutcome;
  readonly reason?: string;
  readonly result?: string;
  readonly tokens?: number;
  /** Go into the outbox in the same transaction. */
  readonly deliveries: readonly { readonly target: DeliveryTarget; readonly text: string }[];
}

export interface FireQuery {
  /** Absent: of all jobs. */
  readonly jobId?: string;
  /** Only those that are not final, oldest first; else newest first. */
  readonly unfinished?: boolean;
  /** Due at or after this instant. */
  readonly since?: number;
  readonly limit: number;
}

/**
 * What became of due instants.
 *
 * Contract (the `fire-ledger` suite):
 * - `advance` stores records, claim and cursor together; it gives undefined, and stores nothing, when revision or cursor are not those of the decision, or a run of the job is under way that it would run beside.
 * - `advance` of a lease that another took rejects with `lease_lost` and stores nothing.
 * - `claim` gives one fire to one process: an instant asked for by hand, or a queued one; undefined when a run of the job is under way.
 * - `start` and `finish` of a claim that was taken over, or has an end, reject with `claim_lost` and change nothing.
 * - `finish` stores the end and the rows of the outbox together.
 * - A fire whose process died is `orphaned`; `finish` ends it without a claim, and it is never claimed again.
 * - An instant of a job has one record, whatever two processes do at once.
 */
export interface FireLedger {
  advance(decision: Advance, lease: SchedulerLease): Promise<FireClaim | undefined>;
  /** By hand at an instant, or the queued fire of a job. */
  claim(jobId: string, what: { readonly at: number } | { readonly queued: number }): Promise<FireClaim | undefined>;
  start(claim: FireClaim, ids: { readonly sessionId: string; readonly runId: string }, now: number): Promise<void>;
  finish(claim: FireClaim | Fire, end: FireEnd, now: number): Promise<void>;
  find(query: FireQuery): Promise<readonly Fire[]>;
}

export type DeliveryState = 'pending' | 'sending' | 'sent' | 'failed';

/** A result on its way out. */
export interface Delivery {
  readonly id: number;
  readonly jobId: string;
  readonly jobName: string;
  readonly dueAt: number;
  readonly sessionId?: string;
  readonly target: DeliveryTarget;
  readonly text: string;
  readonly state: DeliveryState;
  /** Attempts so far, the one under way included. */
  readonly attempts: number;
  /** A process died between sending and recording: what is sent now may be a repeat. */
  readonly maybeRepeat: boolean;
  readonly lastError?: string;
  readonly createdAt: number;
  /** Not before this instant. */
  readonly nextAt: number;
}

export type DeliveryEnd =
  | { readonly state: 'sent' }
  /** With `retryAt`: again then; without: for good. */
  | { readonly state: 'failed'; readonly error: string; readonly retryAt?: number };

/**
 * Results that wait to be sent.
 *
 * Contract (the `delivery-outbox` suite):
 * - `take` gives the oldest row of these kinds that is due, to one process at a time, and counts the attempt; with a job, only rows of that.
 * - A row whose process died while sending comes back once for each kill, with `maybeRepeat`.
 * - `settle` as `sent` ends it; as `failed` with `retryAt` it comes back then, and without it never.
 * - `settle` of a row that another process has taken since rejects with `claim_lost`.
 * - Nothing is lost: `list` shows every row until it is pruned, newest first.
 */
export interface DeliveryOutbox {
  take(kinds: readonly DeliveryTarget['kind'][], now: number, jobId?: string): Promise<Delivery | undefined>;
  settle(delivery: Delivery, end: DeliveryEnd, now: number): Promise<void>;
  list(limit: number): Promise<readonly Delivery[]>;
}

export type ScheduleErrorCode =
  | 'job_not_found'
  | 'job_name_taken'
  | 'invalid_job'
  | 'invalid_cron'
  | 'invalid_timezone'
  | 'too_many_schedules'
  | 'scheduler_running'
  | 'job_running'
  | 'lease_lost'
  | 'claim_lost';

export class ScheduleError extends OdekError {
  constructor(code: ScheduleErrorCode, message: string, details: { value?: unknown; limit?: unknown; cause?: unknown } = {}) {
    super(code, message, details);
  }
}
