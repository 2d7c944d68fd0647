import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { CancelledError, OdekError } from '../../ports/errors.ts';
import type { ProcessResult, ProcessRunner, ProcessSpec } from '../../ports/process.ts';
import { keepOutput } from './bounded-output.ts';
import { childEnvironment } from './environment.ts';

export interface ProcessRunnerOptions {
  /** The variables of odek's own process; children get the allow-listed ones only. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** How long a pipe that somebody else keeps open is read after the child itself ended. */
const PIPE_GRACE_MS = 3000;
/** Longest time a timer can wait; more would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/** Runs commands by `sh -c`, each in a process group of its own. */
export function createProcessRunner({ environment }: ProcessRunnerOptions): ProcessRunner {
  return {
    async run(spec, signal) {
      if (signal.aborted) throw new CancelledError();
      const startedAt = performance.now();
      const child = start(spec, childEnvironment(environment, spec.env));
      const stdout = keepOutput(child.stdout, spec.maxBytes);
      const stderr = keepOutput(child.stderr, spec.maxBytes);
      const ended = await untilEnd(child, spec, signal);
      if (signal.aborted && !ended.timedOut) throw new CancelledError();
      return resultOf(ended, stdout.read(), stderr.read(), performance.now() - startedAt);
    },
  };
}

interface Ended {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
}

function start(spec: ProcessSpec, env: Record<string, string>): Child {
  try {
    const child = spawn('sh', ['-c', spec.command], { cwd: spec.cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin.on('error', () => {});
    child.stdin.end(spec.stdin ?? '');
    return child;
  } catch (cause) {
    throw spawnFailed(spec, cause);
  }
}

function untilEnd(child: Child, spec: ProcessSpec, signal: AbortSignal): Promise<Ended> {
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  let timedOut = false;
  let grace: NodeJS.Timeout | undefined;
  const kill = () => killGroup(child);
  const limit = setTimeout(
    () => {
      timedOut = true;
      kill();
    },
    Math.min(spec.timeoutMs, MAX_TIMER_MS),
  );
  const finish = (exitCode: number | null, ending: string | null) => {
    child.stdout.destroy();
    child.stderr.destroy();
    resolve({ exitCode, signal: ending, timedOut });
  };
  signal.addEventListener('abort', kill, { once: true });
  child.on('error', (cause) => reject(signal.aborted ? new CancelledError() : spawnFailed(spec, cause)));
  child.on('exit', (code, ending) => {
    grace = setTimeout(() => finish(code, ending), PIPE_GRACE_MS);
    if (timedOut || signal.aborted) kill();
  });
  child.on('close', finish);
  return promise.finally(() => {
    clearTimeout(limit);
    clearTimeout(grace);
    signal.removeEventListener('abort', kill);
  });
}

/** Kills the child and everything that stayed in its group. */
function killGroup(child: Child): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // No process of the group is left.
  }
}

function resultOf(
  ended: Ended,
  stdout: { text: string; truncated: boolean },
  stderr: { text: string; truncated: boolean },
  durationMs: number,
): ProcessResult {
  return {
    ...(ended.exitCode === null ? {} : { exitCode: ended.exitCode }),
    ...(ended.signal === null ? {} : { signal: ended.signal }),
    stdout: stdout.text,
    stderr: stderr.text,
    stdoutTruncated: stdout.truncated,
    stderrTruncated: stderr.truncated,
    timedOut: ended.timedOut,
    durationMs,
  };
}

function spawnFailed(spec: ProcessSpec, cause: unknown): OdekError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new OdekError('spawn_failed', `the command could not be started in ${spec.cwd}: ${why}`, { value: spec.command, cause });
}
