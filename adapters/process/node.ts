import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { CancelledError, OdekError } from '../../ports/errors.ts';
import type { ProcessResult, ProcessRunner, ProcessSpec } from '../../ports/process.ts';
import { keepOutput } from './bounded-output.ts';
import { childEnvironment } from './environment.ts';
import { type JobRecords, openJobRecords, reapJobs } from './job-records.ts';
import { isTreeLeft, type JobTree, killTree, markVariable } from './job-tree.ts';
import { type Launch, type Launcher, PLAIN } from './launcher.ts';
import { endWithProcess } from './process-end.ts';

export interface ProcessRunnerOptions {
  /** The variables of odek's own process; children get the allow-listed ones only. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * Absolute path where running commands are noted. What a killed process noted there is ended first.
   * Absent: what outlives a killed odek is not found.
   */
  readonly recordsFolder?: string;
  /** Absent: commands run as odek does. */
  readonly launcher?: Launcher;
}

/** How long a pipe that somebody else keeps open is read after the child itself ended. */
const PIPE_GRACE_MS = 3000;
/** The same once everything was killed that could be found: only what hid itself can keep it open. */
const KILLED_GRACE_MS = 1000;
/** Longest time a timer can wait; more would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Begins once the command is on record; nothing of it runs before the next start could find it. */
const PLAIN_SCRIPT = 'IFS= read -r go <&3 || exit 125; exec 3<&- 4>&-; exec sh -c "$1"';
/** Tells on descriptor 4 that the sandbox stands, and at the end whether processes of the command still run. */
const INSIDE_SCRIPT =
  'echo ready >&4; sh -c "$1" 3<&- 4>&-; code=$?; for p in /proc/[0-9]*; do case $p in /proc/1|/proc/$$) ;; *) if [ -e "$p/exe" ]; then echo left >&4; break; fi ;; esac; done; exit $code';
/** Where nothing but the standard streams gets through. */
const BARE_SCRIPT = 'exec sh -c "$1"';

/** Runs commands by `sh -c`, each in a process group of its own. */
export function createProcessRunner(options: ProcessRunnerOptions): ProcessRunner {
  const { environment, recordsFolder, launcher = PLAIN } = options;
  const records = recordsFolder === undefined ? undefined : openJobRecords(recordsFolder);
  if (recordsFolder !== undefined) reapJobs(recordsFolder);
  const running = new Set<Command>();
  const guard = endWithProcess(() => {
    for (const command of running) command.end();
  });

  return {
    ...(launcher.confinement && { confinement: launcher.confinement }),
    async run(spec, signal) {
      if (signal.aborted) throw new CancelledError();
      const startedAt = performance.now();
      const mark = randomBytes(16).toString('hex');
      const env = childEnvironment(environment, { ...spec.env, ...markVariable(mark) });
      const launch = await launcher.launch({ script: scriptFor(launcher), command: spec.command, cwd: spec.cwd, env }, signal);
      if (signal.aborted) throw new CancelledError();
      const command = await begin(spec, launch, launcher, mark, records);
      running.add(command);
      guard.arm();
      try {
        const ended = await untilEnd(command, spec, signal);
        if (signal.aborted && !ended.timedOut) throw new CancelledError();
        if (didNotStart(command, ended)) {
          launcher.failed?.();
          throw spawnFailed(spec, `the sandbox did not start: ${wordsOf(command) || `exit status ${ended.exitCode}`}`);
        }
        return resultOf(command, ended, performance.now() - startedAt);
      } finally {
        command.forget();
        running.delete(command);
        if (running.size === 0) guard.disarm();
      }
    },
  };
}

function scriptFor(launcher: Launcher): string {
  if (launcher.confinement === undefined) return PLAIN_SCRIPT;
  return launcher.passesDescriptors ? INSIDE_SCRIPT : BARE_SCRIPT;
}

/** A command that was started. */
interface Command {
  readonly child: ChildProcess;
  readonly stdout: ReturnType<typeof keepOutput>;
  readonly stderr: ReturnType<typeof keepOutput>;
  /** Whether the launcher keeps it apart, and tells on a descriptor of its own what became of it. */
  readonly notes?: ReturnType<typeof keepOutput>;
  readonly confined: boolean;
  /** Kills it with everything it started that can be found. */
  end(): void;
  /** The same when the command itself has ended; returns whether there was anything. */
  sweep(): boolean;
  forget(): void;
}

const MAX_NOTES = 64;

async function begin(
  spec: ProcessSpec,
  launch: Launch,
  launcher: Launcher,
  mark: string,
  records: JobRecords | undefined,
): Promise<Command> {
  const child = await spawned(spec, launch);
  const tree: JobTree = { pid: child.pid ?? 0, mark };
  const confined = launcher.confinement !== undefined;
  const [stdin, stdout, stderr, go, notes] = child.stdio as unknown as [Writable, Readable, Readable, Writable, Readable];
  const command: Command = {
    child,
    stdout: keepOutput(stdout, spec.maxBytes),
    stderr: keepOutput(stderr, spec.maxBytes),
    ...(confined && launcher.passesDescriptors && { notes: keepOutput(notes, MAX_NOTES) }),
    confined,
    end() {
      launch.kill?.();
      killTree(tree, { withGroup: true });
    },
    sweep() {
      if (confined && command.notes?.read().text.includes('left') !== true) return false;
      const left = confined || isTreeLeft(tree);
      if (left) killTree(tree, { withGroup: true });
      return left;
    },
    forget: () => records?.remove(tree),
  };
  for (const stream of [stdin, go]) stream.on('error', () => {});
  if (command.notes === undefined) notes.resume();
  try {
    records?.add(tree);
  } catch (cause) {
    command.end();
    throw spawnFailed(spec, cause);
  }
  go.end('go\n');
  stdin.end(spec.stdin ?? '');
  return command;
}

function spawned(spec: ProcessSpec, { file, args, cwd, env }: Launch): Promise<ChildProcess> {
  const { promise, resolve, reject } = Promise.withResolvers<ChildProcess>();
  try {
    const child = spawn(file, [...args], { cwd, env: { ...env }, detached: true, stdio: ['pipe', 'pipe', 'pipe', 'pipe', 'pipe'] });
    child.once('error', (cause) => reject(spawnFailed(spec, cause)));
    child.once('spawn', () => resolve(child));
  } catch (cause) {
    reject(spawnFailed(spec, cause));
  }
  return promise;
}

interface Ended {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly timedOut: boolean;
  readonly leftovers: boolean;
}

function untilEnd(command: Command, spec: ProcessSpec, signal: AbortSignal): Promise<Ended> {
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  const { child } = command;
  let timedOut = false;
  let leftovers = false;
  let grace: NodeJS.Timeout | undefined;
  const kill = (): void => command.end();
  const limit = setTimeout(
    () => {
      timedOut = true;
      kill();
    },
    Math.min(spec.timeoutMs, MAX_TIMER_MS),
  );
  const finish = (exitCode: number | null, ending: string | null): void => {
    for (const stream of child.stdio) stream?.destroy();
    // What a sandbox tells arrives with its last words.
    if (command.confined && command.sweep()) leftovers = true;
    resolve({ exitCode, signal: ending, timedOut, leftovers: leftovers && !timedOut });
  };
  signal.addEventListener('abort', kill, { once: true });
  if (signal.aborted) kill();
  child.on('error', (cause) => reject(signal.aborted ? new CancelledError() : spawnFailed(spec, cause)));
  child.on('exit', (code, ending) => {
    const killed = timedOut || signal.aborted;
    if (killed) kill();
    else if (!command.confined) leftovers = command.sweep();
    grace = setTimeout(() => finish(code, ending), killed || leftovers ? KILLED_GRACE_MS : PIPE_GRACE_MS);
  });
  child.on('close', finish);
  return promise.finally(() => {
    clearTimeout(limit);
    clearTimeout(grace);
    signal.removeEventListener('abort', kill);
  });
}

const MAX_WORDS = 500;

/** Whether a sandbox ended without having run the script. */
function didNotStart({ notes }: Command, { timedOut }: Ended): boolean {
  return notes !== undefined && !timedOut && !notes.read().text.includes('ready');
}

function wordsOf({ stderr }: Command): string {
  return stderr.read().text.trim().slice(0, MAX_WORDS);
}

function resultOf({ stdout, stderr }: Command, ended: Ended, durationMs: number): ProcessResult {
  const [out, err] = [stdout.read(), stderr.read()];
  return {
    ...(ended.exitCode === null ? {} : { exitCode: ended.exitCode }),
    ...(ended.signal === null ? {} : { signal: ended.signal }),
    stdout: out.text,
    stderr: err.text,
    stdoutTruncated: out.truncated,
    stderrTruncated: err.truncated,
    timedOut: ended.timedOut,
    ...(ended.leftovers && { leftovers: true }),
    durationMs,
  };
}

function spawnFailed(spec: ProcessSpec, cause: unknown): OdekError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new OdekError('spawn_failed', `the command could not be started in ${spec.cwd}: ${why}`, { value: spec.command, cause });
}
