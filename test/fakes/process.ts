import { CancelledError, OdekError } from '../../ports/errors.ts';
import type { ProcessResult, ProcessRunner, ProcessSpec } from '../../ports/process.ts';

/** What a program of the fake may do. */
export interface FakeProcess {
  readonly environment: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly cwd: string;
  out(text: string): void;
  err(text: string): void;
  /** Something goes on after its end, until `end` is called. */
  leave(end: () => void): void;
  /** Fires when its group is killed. */
  readonly killed: AbortSignal;
}

/** Ends with its exit code. */
export type FakeProgram = (process: FakeProcess) => number | Promise<number>;

export interface FakeProcessRunnerOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** By command line. Anything else cannot be started. */
  readonly programs: Readonly<Record<string, FakeProgram>>;
}

export interface FakeProcessRunner extends ProcessRunner {
  /** Every command that was run, in order. */
  readonly ran: readonly ProcessSpec[];
}

const INHERITED = /^(?:PATH|HOME|USER|LOGNAME|SHELL|TMPDIR|LANG|LC_[A-Z]+|TZ|TERM)$/;
const SECRET = /APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|CREDS|PRIVATEKEY|ACCESSKEY|COOKIE|AUTHORIZATION/;

/** Commands without processes: each command line is a program of the test. */
export function createFakeProcessRunner({ environment = {}, programs }: FakeProcessRunnerOptions): FakeProcessRunner {
  const ran: ProcessSpec[] = [];
  return {
    ran,
    async run(spec, signal) {
      if (signal.aborted) throw new CancelledError();
      ran.push(spec);
      const program = Object.hasOwn(programs, spec.command) ? programs[spec.command] : undefined;
      if (!program || spec.cwd.endsWith('/missing'))
        throw new OdekError('spawn_failed', `no such program: ${spec.command}`, { value: spec.command });
      return execute(program, spec, childEnvironment(environment, spec.env), signal);
    },
  };
}

async function execute(
  program: FakeProgram,
  spec: ProcessSpec,
  environment: Record<string, string>,
  signal: AbortSignal,
): Promise<ProcessResult> {
  const [out, err] = [keep(spec.maxBytes), keep(spec.maxBytes)];
  const limit = AbortSignal.timeout(spec.timeoutMs);
  const killed = AbortSignal.any([signal, limit]);
  const startedAt = performance.now();
  const death = new Promise<undefined>((resolve) => killed.addEventListener('abort', () => resolve(undefined), { once: true }));
  const left: (() => void)[] = [];
  const leave = (end: () => void): void => void left.push(end);
  const life = program({ environment, stdin: spec.stdin ?? '', cwd: spec.cwd, out: out.add, err: err.add, leave, killed });
  const exitCode = await Promise.race([life, death]);
  for (const end of left) end();
  if (signal.aborted) throw new CancelledError();
  return {
    ...(exitCode === undefined ? { signal: 'SIGKILL' } : { exitCode }),
    stdout: out.text(),
    stderr: err.text(),
    stdoutTruncated: out.truncated(),
    stderrTruncated: err.truncated(),
    timedOut: exitCode === undefined,
    ...(exitCode !== undefined && left.length > 0 && { leftovers: true }),
    durationMs: performance.now() - startedAt,
  };
}

function keep(maxBytes: number) {
  let bytes = Buffer.alloc(0);
  let truncated = false;
  return {
    add(text: string): void {
      const all = Buffer.concat([bytes, Buffer.from(text)]);
      truncated ||= all.length > maxBytes;
      bytes = all.subarray(0, maxBytes);
    },
    /** `stream` leaves out the bytes of a character that is not whole. */
    text: () => new TextDecoder().decode(bytes, { stream: true }),
    truncated: () => truncated,
  };
}

function childEnvironment(parent: Readonly<Record<string, string | undefined>>, added: Readonly<Record<string, string>> = {}) {
  const inherited = Object.entries(parent).filter(([name]) => INHERITED.test(name));
  const kept = [...inherited, ...Object.entries(added)].filter(([name]) => !SECRET.test(name.toUpperCase().replace(/[-_]/g, '')));
  return Object.fromEntries(kept.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
