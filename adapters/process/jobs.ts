import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { OdekError } from '../../ports/errors.ts';
import { type JobEnd, JobError, type JobRunner, type JobSpec, type StartedJob } from '../../ports/job.ts';
import { childEnvironment } from './environment.ts';
import { openJobRecords, reapJobs } from './job-records.ts';
import { type JobTree, killTree, markVariable } from './job-tree.ts';
import { type Launch, type Launcher, PLAIN } from './launcher.ts';
import { endWithProcess } from './process-end.ts';

export interface JobRunnerOptions {
  /** The variables of odek's own process; children get the allow-listed ones only. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute path where running jobs are noted. What a killed process noted there is ended first. */
  readonly recordsFolder: string;
  /** Absent: jobs run as odek does. */
  readonly launcher?: Launcher;
}

/**
 * Waits for a line on descriptor 3, which is written once the job is on record: nothing of the command
 * runs before the next start could find it. `$1` is the command.
 */
const WAIT_THEN_RUN = 'IFS= read -r go <&3 || exit 125; exec 3<&-; exec sh -c "$1" 2>&1';
/** Where nothing but the standard streams gets through. */
const RUN_AT_ONCE = 'exec sh -c "$1" 2>&1';
/** How long output is read after the job's processes are gone. */
const PIPE_GRACE_MS = 1000;
/** Longest time a timer can wait; more would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Output beyond this rate makes the job wait: reading and redacting it must not keep the agent from its work. */
const PACE_BYTES = 1024 * 1024;
const PACE_MS = 100;

/** Runs jobs by `sh -c`, each in a process group of its own, and ends them with the process at the latest. */
export function createJobRunner({ environment, recordsFolder, launcher = PLAIN }: JobRunnerOptions): JobRunner {
  const records = openJobRecords(recordsFolder);
  const running = new Map<JobTree, { readonly job: StartedJob; readonly launch: Launch }>();
  const starting = new Set<Promise<StartedJob>>();
  let closed = false;
  reapJobs(recordsFolder);
  const guard = endWithProcess(() => {
    for (const [tree, { launch }] of running) {
      launch.kill?.();
      killTree(tree, { withGroup: true });
      records.remove(tree);
    }
  });

  const start = async (spec: JobSpec, onOutput: (text: string) => void): Promise<StartedJob> => {
    const mark = randomBytes(16).toString('hex');
    const script = launcher.passesDescriptors ? WAIT_THEN_RUN : RUN_AT_ONCE;
    const env = childEnvironment(environment, markVariable(mark));
    const launch = await launcher.launch({ script, command: spec.command, cwd: spec.cwd, env });
    const child = await spawned(spec, launch);
    const tree: JobTree = { pid: child.pid, mark };
    guard.arm();
    const job = supervise({ child, tree, launch, confined: launcher.confinement !== undefined }, spec, onOutput);
    running.set(tree, { job, launch });
    void job.ended.then(() => {
      running.delete(tree);
      records.remove(tree);
      if (running.size === 0) guard.disarm();
    });
    await release(child, spec, job, () => records.add(tree));
    return job;
  };

  return {
    async start(spec, onOutput) {
      if (closed) throw new JobError('jobs_closed', 'no job can be started any more: the session is over');
      const beginning = start(spec, onOutput);
      starting.add(beginning);
      return beginning.finally(() => starting.delete(beginning));
    },
    async close() {
      closed = true;
      await Promise.allSettled(starting);
      await Promise.all([...running.values()].map(({ job }) => job.stop()));
    },
  };
}

interface Child {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly output: Readable;
  readonly go: Writable;
}

function spawned(spec: JobSpec, { file, args, cwd, env }: Launch): Promise<Child> {
  const { promise, resolve, reject } = Promise.withResolvers<Child>();
  try {
    const stdio = ['ignore', 'pipe', 'ignore', 'pipe'] as const;
    const child = spawn(file, [...args], { cwd, env: { ...env }, detached: true, stdio: [...stdio] });
    child.once('error', (cause) => reject(cannotStart(spec, cause)));
    child.once('spawn', () => {
      const [, output, , go] = child.stdio;
      if (child.pid === undefined || !output || !go) return reject(cannotStart(spec, 'the system gave no pipe'));
      (go as Writable).on('error', () => {});
      resolve({ process: child, pid: child.pid, output: output as Readable, go: go as Writable });
    });
  } catch (cause) {
    reject(cannotStart(spec, cause));
  }
  return promise;
}

/** Lets the command begin once it is noted; a job that cannot be noted does not begin. */
async function release(child: Child, spec: JobSpec, job: StartedJob, note: () => void): Promise<void> {
  try {
    note();
  } catch (cause) {
    await job.stop();
    throw cannotStart(spec, cause);
  }
  child.go.end('go\n');
}

interface Supervised {
  readonly child: Child;
  readonly tree: JobTree;
  readonly launch: Launch;
  readonly confined: boolean;
}

function supervise({ child, tree, launch, confined }: Supervised, spec: JobSpec, onOutput: (text: string) => void): StartedJob {
  const { promise, resolve } = Promise.withResolvers<JobEnd>();
  const output = readPaced(child.output, onOutput);
  let ending: 'killed' | 'timeout' | undefined;
  let grace: NodeJS.Timeout | undefined;
  const end = (status: 'killed' | 'timeout'): void => {
    ending ??= status;
    launch.kill?.();
    killTree(tree, { withGroup: true });
  };
  const limit = spec.timeoutMs === undefined ? undefined : setTimeout(() => end('timeout'), Math.min(spec.timeoutMs, MAX_TIMER_MS));
  child.process.on('exit', (code, signal) => {
    clearTimeout(limit);
    launch.kill?.();
    killTree(tree, { withGroup: true });
    const finish = (): void => {
      clearTimeout(grace);
      output.finish();
      resolve(endOf(ending, code, signal, confined));
    };
    grace = setTimeout(finish, PIPE_GRACE_MS);
    output.atEnd(finish);
  });
  return {
    ended: promise,
    stop() {
      if (child.process.exitCode === null && child.process.signalCode === null) end('killed');
      return promise;
    },
  };
}

/** A sandbox tells of a signal as a shell does: by an exit code above 128. */
const SIGNALLED = { least: 129, most: 159 };

function endOf(ending: 'killed' | 'timeout' | undefined, code: number | null, signal: string | null, confined: boolean): JobEnd {
  const signalled = signal !== null || (confined && code !== null && code >= SIGNALLED.least && code <= SIGNALLED.most);
  if (ending !== undefined && signalled) return { status: ending };
  if (signalled) return { status: 'failed' };
  return code === null ? { status: 'failed' } : { status: 'exited', exitCode: code };
}

/** Hands text on as it comes, at a bounded rate. */
function readPaced(stream: Readable, onOutput: (text: string) => void) {
  const decoder = new StringDecoder('utf8');
  let room = PACE_BYTES;
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  let atEnd = (): void => {};
  let ended = false;
  const hand = (text: string): void => {
    if (text !== '' && !over) onOutput(text);
  };
  stream.on('data', (chunk: Buffer) => {
    hand(decoder.write(chunk));
    room -= chunk.length;
    if (room <= 0) stream.pause();
    timer ??= setTimeout(() => {
      timer = undefined;
      room = PACE_BYTES;
      stream.resume();
    }, PACE_MS);
  });
  stream.on('error', () => {});
  stream.on('close', () => {
    ended = true;
    atEnd();
  });
  return {
    atEnd(run: () => void): void {
      atEnd = run;
      if (ended) run();
    },
    finish(): void {
      clearTimeout(timer);
      hand(decoder.end());
      over = true;
      stream.destroy();
    },
  };
}

function cannotStart(spec: JobSpec, cause: unknown): OdekError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new OdekError('spawn_failed', `the job could not be started in ${spec.cwd}: ${why}`, { value: spec.command, cause });
}
