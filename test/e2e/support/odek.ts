import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Place } from './place.ts';

const SOURCE = fileURLToPath(new URL('../../../hosts/entry.ts', import.meta.url));

/** The program as built for this run of the tests (`test/config/build-program.ts`), else its source. */
export const ENTRY = process.env.ODEK_TEST_PROGRAM ?? SOURCE;

/** How a process of odek ended, and all it wrote. */
export interface Ended {
  /** Absent when a signal ended it. */
  readonly code: number | undefined;
  readonly signal: NodeJS.Signals | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process of odek that may still run. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** What it wrote so far. */
  readonly stdout: string;
  readonly stderr: string;
  /** Resolves once standard error holds `text`; rejects when the process ends without it. */
  untilTold(text: string | RegExp): Promise<void>;
}

export interface StartOptions {
  /** Written to standard input, which is then closed. Absent: standard input is empty. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Starts the source files, for tests that ask which of them are loaded. */
  readonly source?: boolean;
}

/** No command of a test takes nearly so long; one that hangs is killed and told. */
const HANG_MS = 60_000;

/** Starts the real program with its streams on pipes. */
export function startOdek(place: Place, args: readonly string[], options: StartOptions = {}): Running {
  const child = spawn(process.execPath, [options.source === true ? SOURCE : ENTRY, ...args], {
    cwd: options.cwd ?? place.work,
    env: { ...place.env, ...options.env },
    stdio: 'pipe',
  });
  let stdout = '';
  let stderr = '';
  const listeners = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    for (const listener of listeners) listener();
  });
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  const ended = new Promise<Ended>((resolve, reject) => {
    const hang = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`odek ${args.join(' ')} did not end in ${HANG_MS} ms\n${stderr}`));
    }, HANG_MS);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      clearTimeout(hang);
      resolve({ code: code ?? undefined, signal: signal ?? undefined, stdout, stderr });
    });
  });
  // A test may look at the end much later than it comes.
  ended.catch(() => {});
  return {
    child,
    ended,
    get stdout() {
      return stdout;
    },
    get stderr() {
      return stderr;
    },
    untilTold: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (typeof text === 'string' ? !stderr.includes(text) : !text.test(stderr)) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
        ended.then(() => reject(new Error(`it ended without telling ${text}\n${stderr}`)), reject);
      }),
  };
}

/** Runs the real program to its end. */
export function odek(place: Place, args: readonly string[], options: StartOptions = {}): Promise<Ended> {
  return startOdek(place, args, options).ended;
}
