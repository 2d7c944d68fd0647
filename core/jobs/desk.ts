/** Where calls of the job tools find the jobs of their session. */
import type { Clock } from '../../ports/clock.ts';
import type { WireBody } from '../../ports/event.ts';
import type { Hash } from '../../ports/hash.ts';
import type { Ids } from '../../ports/ids.ts';
import { type JobControl, JobError, type JobRequest, type JobRunner, type JobView } from '../../ports/job.ts';
import type { Redactor } from '../redact/redactor.ts';
import { createJob, type FinishedJob, type Job } from './job.ts';

export interface JobDeskOptions {
  readonly runner: JobRunner;
  /** Running at once in one session. */
  readonly maxJobs: number;
  /** Bytes of output kept of each job. */
  readonly maxOutputBytes: number;
  /** Milliseconds; absent: a job may run as long as its session. */
  readonly maxTimeoutMs?: number;
  /** False: the end of a job is told only to whoever asks. */
  readonly notify: boolean;
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly hash: Hash;
}

export type JobEvent = Extract<WireBody, { readonly type: 'bg_started' | 'bg_exited' }>;

/** The background jobs of all sessions of one host. */
export interface JobDesk extends JobControl {
  /** Calls of `run` mean the jobs of `session`, and `emit` is told what happens to them, also after the run. */
  open(run: string, session: string, emit: (event: JobEvent) => void): void;
  /** Calls of `run` are refused from now on. Its jobs go on. */
  close(run: string): void;
  /** Jobs of `session` that ended since the last time and were not seen to have ended by a call. Oldest first. */
  takeFinished(session: string): readonly FinishedJob[];
  /** The jobs of `session` for a person who looks: nothing counts as seen by the model. Oldest first. */
  look(session: string): readonly JobView[];
  /** Ends the jobs of a session that is over, and forgets them. */
  endSession(session: string): Promise<void>;
  /** Ends all jobs, for good. */
  closeAll(): Promise<void>;
}

interface JobSession {
  readonly jobs: Map<string, Job>;
  starting: number;
  over: boolean;
  emit(event: JobEvent): void;
}

const ID_BYTES = 4;
const CHUNK_BYTES = 32 * 1024;
const TAIL_BYTES = 600;
/** Ended jobs of a session that can still be asked about. */
const MAX_ENDED = 32;

export function createJobDesk(options: JobDeskOptions): JobDesk {
  const { runner, maxJobs, maxTimeoutMs, ids, hash } = options;
  const sessions = new Map<string, JobSession>();
  const sessionOf = new Map<string, string>();

  const jobsOf = (run: string | undefined): JobSession => {
    const only = sessionOf.size === 1 ? sessionOf.values().next().value : undefined;
    const name = run === undefined ? only : sessionOf.get(run);
    const session = name === undefined ? undefined : sessions.get(name);
    if (session === undefined) throw new JobError('jobs_closed', 'this call belongs to no run that is under way', { value: run });
    return session;
  };

  const newId = (session: JobSession): string => {
    for (;;) {
      const id = `bg_${ids.hex(ID_BYTES)}`;
      if (!session.jobs.has(id)) return id;
    }
  };

  const launch = async (session: JobSession, { command, cwd, timeoutMs: wish }: JobRequest): Promise<Job> => {
    const timeoutMs = shortest(wish, maxTimeoutMs);
    const job = createJob({ ...options, id: newId(session), command, timeoutMs });
    const started = await runner.start({ command, cwd, ...(timeoutMs !== undefined && { timeoutMs }) }, job.write);
    if (session.over) {
      await started.stop();
      throw new JobError('jobs_closed', 'the session ended while the job was being started');
    }
    session.jobs.set(job.id, job);
    session.emit({ type: 'bg_started', data: { job_id: job.id, command_sha256: hash.sha256(command) } });
    job.attach(started, ({ status, exitCode }) => {
      session.emit({ type: 'bg_exited', data: { job_id: job.id, status, ...(exitCode !== undefined && { exit_code: exitCode }) } });
      forgetOldest(session);
    });
    return job;
  };

  return {
    open(run, name, emit) {
      const session = sessions.get(name) ?? { jobs: new Map(), starting: 0, over: false, emit };
      session.emit = emit;
      sessions.set(name, session);
      sessionOf.set(run, name);
    },
    close: (run) => void sessionOf.delete(run),
    async start(request) {
      const session = jobsOf(request.run);
      const busy = session.starting + [...session.jobs.values()].filter((job) => job.isRunning()).length;
      if (busy >= maxJobs) {
        const message = `${busy} background jobs are running, which is the most a session may have; stop one with bg_stop first`;
        throw new JobError('too_many_jobs', message, { value: busy, limit: maxJobs });
      }
      session.starting += 1;
      try {
        return (await launch(session, request)).view();
      } finally {
        session.starting -= 1;
      }
    },
    list: (run) => [...jobsOf(run).jobs.values()].map((job) => job.seen()),
    status: (id, run) => jobsOf(run).jobs.get(id)?.seen(),
    output: (id, since, run) => jobsOf(run).jobs.get(id)?.read(since, CHUNK_BYTES),
    async stop(id, run) {
      const job = jobsOf(run).jobs.get(id);
      await job?.stop();
      return job?.seen();
    },
    takeFinished(name) {
      const jobs = options.notify ? [...(sessions.get(name)?.jobs.values() ?? [])] : [];
      return jobs.flatMap((job) => job.takeEnd(TAIL_BYTES));
    },
    look: (name) => [...(sessions.get(name)?.jobs.values() ?? [])].map((job) => job.view()),
    async endSession(name) {
      const session = sessions.get(name);
      if (session === undefined) return;
      session.over = true;
      sessions.delete(name);
      for (const [run, its] of sessionOf) if (its === name) sessionOf.delete(run);
      await Promise.all([...session.jobs.values()].map((job) => job.stop()));
    },
    async closeAll() {
      sessionOf.clear();
      for (const session of sessions.values()) session.over = true;
      await runner.close();
      // What the jobs' ends have to tell is told before whoever listens is closed.
      await Promise.all([...sessions.values()].flatMap(({ jobs }) => [...jobs.values()].map((job) => job.stop())));
      sessions.clear();
    },
  };
}

function shortest(wish: number | undefined, limit: number | undefined): number | undefined {
  if (wish === undefined) return limit;
  return limit === undefined ? wish : Math.min(wish, limit);
}

function forgetOldest(session: JobSession): void {
  const ended = [...session.jobs.values()].filter((job) => !job.isRunning());
  for (const job of ended.slice(0, Math.max(0, ended.length - MAX_ENDED))) session.jobs.delete(job.id);
}
