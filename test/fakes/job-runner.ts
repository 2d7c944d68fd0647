import { OdekError } from '../../ports/errors.ts';
import { type JobEnd, JobError, type JobRunner, type JobSpec, type StartedJob } from '../../ports/job.ts';

/** What a program of the fake may do. */
export interface FakeJob {
  readonly environment: Readonly<Record<string, string>>;
  out(text: string): void;
  /** Fires when the job is killed. */
  readonly killed: AbortSignal;
}

/** Ends with its exit code, or by a signal of others. A program that does not end is killed. */
export type FakeJobProgram = (job: FakeJob) => Promise<number | 'signal'>;

export interface FakeJobRunnerOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** By command line. Anything else cannot be started. */
  readonly programs: Readonly<Record<string, FakeJobProgram>>;
}

export interface FakeJobRunner extends JobRunner {
  /** Every job that was started, in order. */
  readonly started: readonly JobSpec[];
}

const INHERITED = new Set(['PATH', 'HOME', 'USER', 'LANG', 'TERM', 'TZ']);

/** Jobs without processes: each command line is a program of the test. */
export function createFakeJobRunner({ environment = {}, programs }: FakeJobRunnerOptions): FakeJobRunner {
  const started: JobSpec[] = [];
  const jobs = new Set<StartedJob>();
  let closed = false;
  const inherited = Object.entries(environment).filter(
    (entry): entry is [string, string] => INHERITED.has(entry[0]) && entry[1] !== undefined,
  );
  return {
    started,
    async start(spec, onOutput) {
      if (closed) throw new JobError('jobs_closed', 'no job can be started any more');
      const program = Object.hasOwn(programs, spec.command) ? programs[spec.command] : undefined;
      if (!program || spec.cwd.endsWith('/missing')) throw new OdekError('spawn_failed', `no such program: ${spec.command}`);
      started.push(spec);
      const job = run(program, spec, Object.fromEntries(inherited), onOutput);
      jobs.add(job);
      void job.ended.then(() => jobs.delete(job));
      return job;
    },
    async close() {
      closed = true;
      await Promise.all([...jobs].map((job) => job.stop()));
    },
  };
}

function run(program: FakeJobProgram, spec: JobSpec, environment: Record<string, string>, onOutput: (text: string) => void): StartedJob {
  const kill = new AbortController();
  const ended = Promise.withResolvers<JobEnd>();
  let over = false;
  const finish = (end: JobEnd): void => {
    if (over) return;
    over = true;
    clearTimeout(limit);
    kill.abort();
    ended.resolve(end);
  };
  const limit = spec.timeoutMs === undefined ? undefined : setTimeout(() => finish({ status: 'timeout' }), spec.timeoutMs);
  const out = (text: string): void => {
    if (!over) onOutput(text);
  };
  void program({ environment, out, killed: kill.signal }).then((how) =>
    finish(how === 'signal' ? { status: 'failed' } : { status: 'exited', exitCode: how }),
  );
  return {
    ended: ended.promise,
    stop() {
      finish({ status: 'killed' });
      return ended.promise;
    },
  };
}
