import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createEmulator, type Emulator } from '../../hosts/cli/render/emulator.ts';
import { ENTRY } from './odek.ts';
import type { Place } from './place.ts';

const DRIVER = fileURLToPath(new URL('../../hosts/cli/render/pseudo-terminal.py', import.meta.url));

/** What a person does at the terminal: waits until something is there, types, lets time pass (seconds), or makes a file elsewhere. */
export type Step = { readonly wait: string } | { readonly send: string } | { readonly pause: number } | { readonly touch: string };

/** What a person saw. */
export interface Seen {
  readonly screen: Emulator;
  /** Everything that was written, escapes included. */
  readonly raw: string;
  /** Negative: the number of the signal that ended it. */
  readonly exit: number;
}

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** A shell line that gets odek as `"$@"`, for redirections. */
  readonly shell?: string;
}

type Line = { readonly out?: string; readonly exit?: number };

/** Runs the real program on a pseudo-terminal, in nothing but the environment of `place`. */
export async function onTerminal(
  place: Place,
  args: readonly string[],
  steps: readonly Step[],
  options: TerminalOptions = {},
): Promise<Seen> {
  const { columns = 100, rows = 40, shell } = options;
  const variables = Object.entries({ ...place.env, TERM: 'xterm-256color', ...options.env }).map(([name, value]) => `${name}=${value}`);
  const program = [process.execPath, ENTRY, ...args];
  const command = shell === undefined ? program : ['/bin/sh', '-c', shell, 'sh', ...program];
  const { stdout } = await promisify(execFile)(
    'python3',
    [DRIVER, String(columns), String(rows), JSON.stringify(steps), '/usr/bin/env', '-i', ...variables, ...command],
    { cwd: place.work, maxBuffer: 64 * 1024 * 1024 },
  );
  const screen = createEmulator(columns, rows);
  const decoder = new TextDecoder();
  let raw = '';
  let exit = Number.NaN;
  for (const line of stdout.trim().split('\n')) {
    const { out, exit: code }: Line = JSON.parse(line);
    if (code !== undefined) exit = code;
    if (out === undefined) continue;
    const text = decoder.decode(Buffer.from(out, 'base64'), { stream: true });
    raw += text;
    // The driver of the terminal has already made CR LF of every LF.
    screen.write(text.replaceAll('\r\n', '\n'));
  }
  return { screen, raw, exit };
}
