import type { Clock } from '../../ports/clock.ts';
import type { CronCalendar, CronSchedule } from '../../ports/cron-calendar.ts';
import { hasCode } from '../../ports/errors.ts';
import {
  type DeliveryOutbox,
  type Fire,
  type FireClaim,
  type FireEnd,
  type FireLedger,
  type ScheduledJob,
  ScheduleError,
  type ScheduleJob,
  type SchedulerHolder,
  type SchedulerLease,
  type SchedulerLeases,
  type ScheduleStore,
} from '../../ports/schedule.ts';
import { tokensToday } from './day.ts';
import { decide, ON_TIME_MS } from './decide.ts';

/** A run of a job that is to be made: what the host knows how to do. */
export interface JobRun {
  readonly job: ScheduleJob;
  readonly claim: FireClaim;
  /** To be called before the first model call. */
  started(ids: { readonly sessionId: string; readonly runId: string }): Promise<void>;
  /** Fires on the job's time limit and when the scheduler is to end; `reason` tells which. */
  readonly signal: AbortSignal;
}

export interface EngineDeps {
  readonly jobs: ScheduleStore;
  readonly fires: FireLedger;
  readonly leases: SchedulerLeases;
  readonly outbox: DeliveryOutbox;
  readonly calendar: CronCalendar;
  readonly clock: Clock;
  /** Rejects never for what a model or a tool did: that is an outcome. */
  run(run: JobRun): Promise<FireEnd>;
  log(level: 'debug' | 'info' | 'warning' | 'error', message: string): void;
}

export interface EngineSettings {
  /** `schedule` or `telegram`. */
  readonly surface: string;
  /** Runs at the same time, 1 or more. */
  readonly maxConcurrent: number;
  /** Tokens of all jobs in a day, by UTC; 0 is no limit. */
  readonly dailyTokens: number;
}

/** Which jobs run when. One engine a process. */
export interface Engine {
  /** Takes the scheduler's lease; gives who has it otherwise. From then on every tick without the lease tries again. */
  start(): Promise<SchedulerHolder | undefined>;
  /** Looks at every job once. One look at a time: a call during a look asks for one more after it. */
  tick(): Promise<void>;
  /** Runs a job now, beside its schedule. Rejects with {@link ScheduleError} `job_not_found` or `job_running`. */
  runNow(idOrName: string, signal: AbortSignal): Promise<Fire>;
  /** Keeps the lease between ticks. Never rejects. */
  beat(): Promise<void>;
  /** Fires that this process runs. */
  readonly running: number;
  /** Whether this process has the lease, as far as it knows. */
  readonly leading: boolean;
  /** Begins nothing new, waits for what runs, cancels it after `graceMs`, and gives the lease up. */
  drain(graceMs: number): Promise<void>;
}

/** A run that does not end although it was cancelled is left behind after this. */
const CANCEL_MS = 10_000;
const MAX_OPEN = 2_000;
const END_ATTEMPTS = 5;
const END_WAIT_MS = 2_000;

/** Why a run was cut off; the text goes into its record. */
export class RunCut extends Error {}

export function createEngine(deps: EngineDeps, settings: EngineSettings): Engine {
  const { jobs, fires, leases, calendar, clock, log } = deps;
  const running = new Map<string, { readonly controller: AbortController; readonly done: Promise<void> }>();
  const parsed = new Map<string, CronSchedule | undefined>();
  let lease: SchedulerLease | undefined;
  /** No scheduler was there for longer than a due time may be late, and what waited then was not looked at yet. */
  let wasAway = false;
  let wanted = false;
  let draining = false;
  let looking: Promise<void> | undefined;
  let asked: 'jobs' | 'queue' | undefined;

  const scheduleOf = ({ id, name, cron, timezone }: ScheduleJob): CronSchedule | undefined => {
    const key = `${cron}|${timezone}`;
    if (!parsed.has(key)) {
      const found = calendar.parse(cron, timezone);
      if ('fault' in found) log('warning', `job ${name} (${id}) is passed over: ${found.fault}`);
      if (parsed.size > MAX_OPEN) parsed.clear();
      parsed.set(key, 'fault' in found ? undefined : found);
    }
    return parsed.get(key);
  };

  /** Why the job may not run for now although it is due; undefined when it may. */
  const usedUp = async (job: ScheduleJob): Promise<string | undefined> => {
    const ofJob = job.dailyTokens > 0 ? await tokensToday(deps, job.timezone, job.id) : 0;
    if (job.dailyTokens > 0 && ofJob >= job.dailyTokens) return `its ${job.dailyTokens} tokens of the day are used up (${ofJob})`;
    const ofAll = settings.dailyTokens > 0 ? await tokensToday(deps, 'UTC') : 0;
    if (settings.dailyTokens > 0 && ofAll >= settings.dailyTokens) {
      return `the ${settings.dailyTokens} tokens that all jobs may use in a day are used up (${ofAll})`;
    }
    return undefined;
  };

  const perform = async (job: ScheduleJob, claim: FireClaim, signal: AbortSignal): Promise<FireEnd> => {
    const started: JobRun['started'] = (ids) => fires.start(claim, ids, clock.now());
    try {
      const refusal = await usedUp(job);
      if (refusal !== undefined) return { state: 'skipped', reason: refusal, deliveries: [] };
      return await deps.run({ job, claim, started, signal });
    } catch (error) {
      const cut = signal.reason instanceof RunCut ? `${signal.reason.message}: ` : '';
      const reason = `${cut}${textOf(error)}`;
      const text = `[scheduled task "${job.name}" failed] ${reason}`;
      return { state: 'ran', outcome: 'failed', reason, deliveries: [{ target: job.deliver, text }] };
    }
  };

  const settle = async (job: ScheduleJob, claim: FireClaim, end: FireEnd): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await fires.finish(claim, end, clock.now());
        log('info', `job ${job.name}: ${end.outcome ?? end.state}${end.reason === undefined ? '' : ` (${end.reason})`}`);
        return;
      } catch (error) {
        log('error', `the end of job ${job.name} could not be recorded: ${textOf(error)}`);
        if (attempt === END_ATTEMPTS || hasCode(error, 'claim_lost')) return;
        // A result is not given up because the disk is full for a moment.
        await clock.sleep(attempt * END_WAIT_MS).catch(() => {});
      }
    }
  };

  const launch = (job: ScheduleJob, claim: FireClaim, outer?: AbortSignal): Promise<void> => {
    const controller = new AbortController();
    const stopTimer = clock.after(job.timeoutMs, () => {
      controller.abort(new RunCut(`it ran longer than ${Math.round(job.timeoutMs / 1000)} s`));
    });
    const signal = outer ? AbortSignal.any([controller.signal, outer]) : controller.signal;
    const key = `${claim.jobId}/${claim.dueAt}`;
    log('info', `job ${job.name} begins (due ${new Date(claim.dueAt).toISOString()})`);
    const done = perform(job, claim, signal)
      .then((end) => settle(job, claim, end))
      .finally(() => {
        stopTimer();
        running.delete(key);
        // A place is free: what was queued need not wait for the next minute.
        void ask('queue');
      });
    running.set(key, { controller, done });
    return done;
  };

  /** What a process left unfinished is told, never run again by itself. */
  const closeOrphans = async (open: readonly Fire[]): Promise<void> => {
    for (const fire of open) {
      if (!fire.orphaned || running.has(`${fire.jobId}/${fire.dueAt}`)) continue;
      const job = (await jobs.get(fire.jobId))?.job;
      const what =
        fire.state === 'running' ? 'odek ended while it ran; what it had done by then is in its session' : 'odek ended before it began';
      const text = `[scheduled task "${job?.name ?? fire.jobId}" was interrupted] ${what}`;
      const deliveries = job ? [{ target: job.deliver, text }] : [];
      await fires.finish(fire, { state: 'interrupted', reason: what, deliveries }, clock.now());
      log('warning', `job ${job?.name ?? fire.jobId} (due ${new Date(fire.dueAt).toISOString()}): ${what}`);
    }
  };

  const lookAt = async (scheduled: ScheduledJob, held: SchedulerLease): Promise<void> => {
    const { job } = scheduled;
    const schedule = job.enabled ? scheduleOf(job) : undefined;
    if (!schedule) return;
    const open = await fires.find({ jobId: job.id, unfinished: true, limit: 10 });
    const decision = decide({ scheduled, schedule, now: clock.now(), open, hasRoom: running.size < settings.maxConcurrent });
    if (!decision) return;
    const claim = await fires.advance(decision, held);
    if (claim) void launch(job, claim);
    // Part of a long gap, or somebody changed the job meanwhile: look again with what is stored now.
    const after = await jobs.get(job.id);
    if (after && (after.cursor < decision.to || decision.claim === undefined)) await lookAt(after, held);
  };

  const startQueued = async (): Promise<void> => {
    for (const fire of await fires.find({ unfinished: true, limit: MAX_OPEN })) {
      if (fire.state !== 'queued') continue;
      const hasRoom = !draining && running.size < settings.maxConcurrent;
      if (!hasRoom && !wasAway) return;
      const job = (await jobs.get(fire.jobId))?.job;
      const refusal = notAnyMore(job, fire);
      if (!job || refusal !== undefined) {
        await fires.finish(fire, { state: 'skipped', ...(refusal && { reason: refusal }), deliveries: [] }, clock.now());
        continue;
      }
      if (!hasRoom) continue;
      const claim = await fires.claim(fire.jobId, { queued: fire.dueAt });
      if (claim) void launch(job, claim);
    }
    wasAway = false;
  };

  /** Why an instant that waited for a place does not run after all. */
  const notAnyMore = (job: ScheduleJob | undefined, { dueAt }: Fire): string | undefined => {
    if (!job) return 'the job was removed';
    if (!job.enabled) return 'the job was turned off while it waited';
    const isLate = wasAway && !job.catchUp && clock.now() - dueAt > ON_TIME_MS;
    return isLate ? 'odek was not running when its turn came' : undefined;
  };

  const look = async (): Promise<void> => {
    if (!wanted || draining) return;
    try {
      if (lease === undefined) await start();
      const held = lease as SchedulerLease | undefined;
      if (held === undefined) return;
      await leases.beat(held);
      await closeOrphans(await fires.find({ unfinished: true, limit: MAX_OPEN }));
      await startQueued();
      for (const scheduled of await jobs.list()) {
        if (draining) return;
        await lookAt(scheduled, held).catch((error: unknown) => {
          // One job that cannot be looked at keeps no other from its time.
          if (hasCode(error, 'lease_lost')) throw error;
          log('error', `job ${scheduled.job.name} could not be looked at: ${textOf(error)}`);
        });
      }
    } catch (error) {
      if (!lost(error)) log('error', `the schedules could not be looked at: ${textOf(error)}`);
    }
  };

  /** Notes that another process has the lease, where that is what an error says. */
  const lost = (error: unknown): boolean => {
    if (!hasCode(error, 'lease_lost')) return false;
    lease = undefined;
    log('error', `${textOf(error)}; this process begins no more runs until it is the scheduler again`);
    return true;
  };

  const lookAtQueue = async (): Promise<void> => {
    if (lease === undefined || draining) return;
    await startQueued().catch((error: unknown) => log('error', `what waits to run could not be looked at: ${textOf(error)}`));
  };

  /** One look at a time; what is asked for meanwhile is done after it, and once. */
  const ask = (what: 'jobs' | 'queue'): Promise<void> => {
    if (asked !== 'jobs') asked = what;
    const serve = async (): Promise<void> => {
      while (asked !== undefined) {
        const next = asked;
        asked = undefined;
        await (next === 'jobs' ? look() : lookAtQueue());
      }
      // At once, so that nothing asked for from here on waits for a look that is over.
      looking = undefined;
    };
    looking ??= serve();
    return looking;
  };

  const tick = (): Promise<void> => ask('jobs');

  const start = async (): Promise<SchedulerHolder | undefined> => {
    wanted = true;
    const got = await leases.acquire(settings.surface);
    if ('pid' in got) return got;
    lease = got;
    wasAway = clock.now() - (got.seenBefore ?? 0) > ON_TIME_MS;
    return undefined;
  };

  return {
    start,
    tick,
    async runNow(idOrName, signal) {
      const found = await jobs.get(idOrName);
      if (!found) throw new ScheduleError('job_not_found', `there is no job ${JSON.stringify(idOrName)}`, { value: idOrName });
      await closeOrphans(await fires.find({ jobId: found.job.id, unfinished: true, limit: 10 }));
      const claim = await fires.claim(found.job.id, { at: clock.now() });
      if (!claim) throw new ScheduleError('job_running', `job ${found.job.name} is running already`, { value: found.job.name });
      await launch(found.job, claim, signal);
      const ended = await fires.find({ jobId: found.job.id, since: claim.dueAt, limit: 50 });
      return ended.find((fire) => fire.dueAt === claim.dueAt && fire.manual) as Fire;
    },
    async beat() {
      try {
        if (lease !== undefined && !draining) await leases.beat(lease);
      } catch (error) {
        if (!lost(error)) log('error', `the lease could not be kept: ${textOf(error)}`);
      }
    },
    get running() {
      return running.size;
    },
    get leading() {
      return lease !== undefined;
    },
    async drain(graceMs) {
      draining = true;
      await looking;
      const all = Promise.all([...running.values()].map(({ done }) => done));
      await within(clock, all, graceMs);
      for (const { controller } of running.values()) controller.abort(new RunCut('the scheduler ended'));
      await within(clock, all, CANCEL_MS);
      if (lease) await leases.release(lease);
      lease = undefined;
    },
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Waits for work, at most `ms`. */
export async function within(clock: Clock, work: Promise<unknown>, ms: number): Promise<void> {
  const late = Promise.withResolvers<void>();
  const stop = clock.after(ms, late.resolve);
  await Promise.race([work.catch(() => {}), late.promise]);
  stop();
}
