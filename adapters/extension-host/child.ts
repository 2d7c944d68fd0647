import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Duplex, Readable } from 'node:stream';
import type { HostCommand } from './jail.ts';

/** A running host process, as the system sees it. */
export interface Child {
  readonly pid: number;
  /** The channel: descriptor 3 of the process. */
  readonly stream: Duplex;
  /** The last of what it wrote to standard output and error. */
  tail(): string;
  /** Resolves with how it ended, in words. Never rejects. */
  readonly ended: Promise<string>;
  /** Ends it and everything it started, at once. */
  kill(): void;
}

const TAIL_CHARS = 8_192;
/** For what is left in the pipes once the process is gone. */
const FLUSH_MS = 100;
const SIGNAL_BASE = 128;

/** Children that end with this process, in whichever way it ends by itself; the system sees to the rest. */
const running = new Set<ChildProcess>();

function killAll(): void {
  for (const child of running) killGroup(child);
}

/** Starts a command with descriptor 3 as a channel. Rejects when it cannot be started. */
export async function startChild({ file, args, env }: HostCommand): Promise<Child> {
  // A group of its own: Ctrl-C at the terminal is odek's to handle.
  const child = spawn(file, args, { cwd: '/', env, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  let tail = '';
  const note = (text: string): void => {
    tail = (tail + text).slice(-TAIL_CHARS);
  };
  for (const output of [child.stdout, child.stderr]) (output as Readable).setEncoding('utf8').on('data', note);
  const stream = child.stdio[3] as Duplex;
  // A channel that breaks is told by the end of the process.
  stream.on('error', () => killGroup(child));

  const ended = Promise.withResolvers<string>();
  const started = Promise.withResolvers<void>();
  child.once('spawn', () => started.resolve());
  child.once('error', (error) => {
    started.reject(error);
    ended.resolve(error.message);
  });
  child.once('exit', (code, signal) => {
    running.delete(child);
    if (running.size === 0) process.off('exit', killAll);
    const how = howItEnded(code, signal);
    const timer = setTimeout(() => ended.resolve(how), FLUSH_MS);
    child.once('close', () => {
      clearTimeout(timer);
      ended.resolve(how);
    });
  });
  await started.promise;
  if (running.size === 0) process.on('exit', killAll);
  running.add(child);
  return { pid: child.pid as number, stream, tail: () => tail, ended: ended.promise, kill: () => killGroup(child) };
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    child.kill('SIGKILL');
  }
}

/** bwrap ends with 128 and the signal that ended what it ran. */
function howItEnded(code: number | null, signal: NodeJS.Signals | null): string {
  const name = signal ?? Object.entries(constants.signals).find(([, number]) => code !== null && number === code - SIGNAL_BASE)?.[0];
  return name === undefined ? `it exited with ${code}` : `it was ended by ${name}`;
}
