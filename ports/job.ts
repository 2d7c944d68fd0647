import { OdekError } from './errors.ts';

/** `exited`: by itself, with an exit code. `failed`: by a signal that odek did not send. */
export type JobStatus = 'running' | 'exited' | 'failed' | 'timeout' | 'killed';

/** A command that runs beside the agent. */
export interface JobSpec {
  /** Run by `sh -c`, with standard error joined to standard output and without input. */
  readonly command: string;
  /** Absolute path of the working directory. */
  readonly cwd: string;
  /** Milliseconds; absent: no limit. */
  readonly timeoutMs?: number;
}

export interface JobEnd {
  readonly status: Exclude<JobStatus, 'running'>;
  /** With `exited`. */
  readonly exitCode?: number;
}

export interface StartedJob {
  /** How it ended, once it and everything it started are gone. Never rejects. */
  readonly ended: Promise<JobEnd>;
  /** Kills it with everything it started. Idempotent, and without effect on a job that ended. */
  stop(): Promise<JobEnd>;
}

/**
 * Commands that go on while the agent works.
 *
 * Contract (the `job-runner` suite):
 * - The child gets an allow-listed environment: no variable with a secret-looking name, whatever the parent has.
 * - The job ends with what its command started: on `stop`, on the time limit, on `close`, and when the command itself ends.
 * - `onOutput` gets all output in the order in which it was written, in pieces without half a character, and nothing after `ended` settled.
 * - A job tells how it ended: `exited` with its code, `failed` by a signal of others, `timeout` or `killed`.
 * - A command that cannot be started rejects with `OdekError` of code `spawn_failed`.
 * - After `close` every job has ended, and `start` rejects with {@link JobError} `jobs_closed`.
 */
export interface JobRunner {
  start(spec: JobSpec, onOutput: (text: string) => void): Promise<StartedJob>;
  /** Idempotent. */
  close(): Promise<void>;
}

/** A job as a session sees it. Its command is redacted. */
export interface JobView {
  readonly id: string;
  readonly command: string;
  readonly status: JobStatus;
  /** Milliseconds it has run, or ran. */
  readonly runtimeMs: number;
  readonly exitCode?: number;
  /** Bytes of redacted output so far; those that were dropped count. */
  readonly outputBytes: number;
  /** Milliseconds; absent: no limit. */
  readonly timeoutMs?: number;
}

/** A piece of a job's redacted output. Cursors count its bytes from the first one. */
export interface JobOutput {
  readonly text: string;
  /** Where the next piece begins. */
  readonly next: number;
  /** Bytes between the cursor asked for and this piece that are not kept any more. */
  readonly dropped: number;
  readonly status: JobStatus;
}

export interface JobRequest extends JobSpec {
  /** The run that asks, as in `ToolExecution.runId`. */
  readonly run?: string | undefined;
}

/**
 * The background jobs of the session that a run belongs to (DECISIONS 19).
 *
 * Contract (the `job-control` suite):
 * - A job belongs to the session of the run that started it: other sessions neither see nor stop it.
 * - At most as many jobs as configured run at once in a session; one more rejects with {@link JobError} `too_many_jobs`.
 * - Output is kept up to the configured size, the oldest dropped first, and read in pieces of at most 32 KiB without half a character.
 * - An id that the session does not know gives `undefined`, never an error.
 * - `stop` resolves once the job has ended, and leaves one that ended as it was.
 * - A run that is not under way is refused with {@link JobError} `jobs_closed`.
 */
export interface JobControl {
  start(request: JobRequest): Promise<JobView>;
  /** Oldest first. */
  list(run?: string): readonly JobView[];
  status(id: string, run?: string): JobView | undefined;
  /** From `since` on, or from the oldest byte that is kept. */
  output(id: string, since: number, run?: string): JobOutput | undefined;
  stop(id: string, run?: string): Promise<JobView | undefined>;
}

export type JobErrorCode = 'too_many_jobs' | 'jobs_closed';

export class JobError extends OdekError {
  constructor(code: JobErrorCode, message: string, details: { value?: unknown; limit?: unknown; cause?: unknown } = {}) {
    super(code, message, details);
  }
}
