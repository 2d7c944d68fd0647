import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createEmulator, type Emulator } from './emulator.ts';

const DRIVER = fileURLToPath(new URL('./pseudo-terminal.py', import.meta.url));

export type PtyStep =
  | { readonly wait: string }
  | { readonly send: string }
  | { readonly resize: readonly [columns: number, rows: number] }
  | { readonly pause: number };

export interface PtyOutcome {
  readonly screen: Emulator;
  /** Negative: the number of the signal that ended it. */
  readonly exit: number;
  readonly raw: string;
}

export interface PtyOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

type Line = { readonly out?: string; readonly resize?: [number, number]; readonly exit?: number };

/** Runs `args` with this Node on a pseudo-terminal and replays what it wrote on an emulated screen. */
export async function runOnPty(args: readonly string[], steps: readonly PtyStep[], options: PtyOptions = {}): Promise<PtyOutcome> {
  const { columns = 80, rows = 24, env = {} } = options;
  const { NO_COLOR: _, ...inherited } = process.env;
  const { stdout } = await promisify(execFile)(
    'python3',
    [DRIVER, String(columns), String(rows), JSON.stringify(steps), process.execPath, ...args],
    { env: { ...inherited, TERM: 'xterm-256color', ...env }, maxBuffer: 64 * 1024 * 1024 },
  );
  const screen = createEmulator(columns, rows);
  const decoder = new TextDecoder();
  let raw = '';
  let exit = Number.NaN;
  for (const line of stdout
    .trim()
    .split('\n')
    .map((text): Line => JSON.parse(text))) {
    if (line.out !== undefined) {
      const text = decoder.decode(
        Uint8Array.from(atob(line.out), (character) => character.charCodeAt(0)),
        { stream: true },
      );
      raw += text;
      // The driver of the terminal has already made CR LF of every LF.
      screen.write(text.replaceAll('\r\n', '\n'));
    }
    if (line.resize !== undefined) screen.resize(...line.resize);
    if (line.exit !== undefined) exit = line.exit;
  }
  return { screen, exit, raw };
}
