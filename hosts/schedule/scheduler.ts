import type { Store } from '../../adapters/store/index.ts';
import type { Approver } from '../../ports/approval.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RunEvent } from '../../ports/event.ts';
import type { Delivery, DeliveryTarget, Fire, FireClaim, ScheduleJob, SchedulerHolder } from '../../ports/schedule.ts';
import type { ResolvedConfig } from '../config/types.ts';
import type { HostPolicy } from '../policy.ts';

/** What a line of a scheduler's log weighs. */
export type LogLevel = 'debug' | 'info' | 'warning' | 'error';

/** Sends one result. Rejects with {@link DeliveryFault} to say whether another attempt makes sense; any other error does. */
export type Sender = (delivery: Delivery, signal: AbortSignal) => Promise<void>;

/** Why a result could not be sent. */
export class DeliveryFault extends Error {
  /** False: another attempt would fail as well. */
  readonly retry: boolean;
  /** Milliseconds that the receiver asked to wait; bounded by whoever waits. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, options: { readonly retry: boolean; readonly retryAfterMs?: number; readonly cause?: unknown }) {
    super(message, { cause: options.cause });
    this.retry = options.retry;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** What only the host of a scheduler has for one run. */
export interface RunEdges {
  /** Absent: nobody can be asked, and what would prompt is denied. */
  readonly approver?: Approver;
  onEvent?(event: RunEvent): void;
}

export interface SchedulerOptions {
  /** Who is named as the holder of the lease: `schedule` or `telegram`. */
  readonly surface: 'schedule' | 'telegram';
  /** A row of `SCHEDULE_POLICIES`. */
  readonly policy: HostPolicy;
  /** The host's own; runs read theirs anew, from the folder of their job. */
  readonly config: ResolvedConfig;
  /** The very object that the configuration was loaded from: its keys are remembered by it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where MCP servers are started. */
  readonly cwd: string;
  /** The host's; not closed here. */
  readonly store: Store;
  readonly clock: Clock;
  /** Lines without a time, unmasked. */
  log(level: LogLevel, text: string): void;
  /** Where results for `stdout` go. */
  print(text: string): void;
  /** Kinds of delivery beside `stdout`, `log`, `file` and `webhook`, or in their place. Kinds without a sender wait in the outbox. */
  readonly senders?: Readonly<Partial<Record<DeliveryTarget['kind'], Sender>>>;
  edgesOf?(job: ScheduleJob, claim: FireClaim): RunEdges;
  /** False: nothing is looked at by itself and nothing is kept tidy; `tick` and `pump` are called by hand. For tests, and for a single run. */
  readonly timers?: boolean;
}

export interface SchedulerStatus {
  /** Whether this process holds the lease. */
  readonly leading: boolean;
  readonly startedAt: number;
  readonly running: number;
  /** When every job was last looked at. */
  readonly lookedAt?: number;
}

/** Engine, deliveries and housekeeping as one. One a process. */
export interface Scheduler {
  /**
   * Connects MCP servers as the policy says, takes the lease and begins. Gives who has the lease otherwise; the scheduler
   * then waits for it, and is to be stopped where that is not wanted. Rejects with `ConfigError` where the policy aborts.
   */
  start(): Promise<SchedulerHolder | undefined>;
  /** Looks at every job now. */
  tick(): Promise<void>;
  /** Runs a job now and sends what came of it. Rejects with `job_not_found` or `job_running`. */
  runNow(idOrName: string, signal: AbortSignal): Promise<Fire>;
  /** Sends what is due; resolves when nothing is left that can be sent now. */
  pump(): Promise<void>;
  status(): SchedulerStatus;
  /** Begins nothing new, waits `graceMs` for what runs, cancels the rest, sends what came of it, and gives the lease up. Idempotent. */
  stop(graceMs: number): Promise<void>;
}

/** Makes a scheduler. Nothing happens before `start`. */
export type OpenScheduler = (options: SchedulerOptions) => Promise<Scheduler>;
