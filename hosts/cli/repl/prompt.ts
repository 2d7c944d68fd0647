import type { Clock } from '../../../ports/clock.ts';
import type { TerminalIo } from '../command.ts';
import { outputOf } from '../render/output.ts';
import { continued, isIncomplete } from './continuation.ts';
import { openHistory } from './history.ts';
import { createLineEditor } from './line-editor.ts';
import { createLineReader } from './line-reader.ts';

/** Where a repl's inputs come from. */
export interface Prompt {
  /**
   * The next input, without its last newline; it may hold several lines. `undefined`: leave.
   * Aborting `signal` is leaving.
   */
  read(signal?: AbortSignal): Promise<string | undefined>;
  /** Puts lines above an input that is being edited, which stays as it is. False: there is none, and nothing is put anywhere. */
  tell(lines: readonly string[]): boolean;
  close(): void;
}

export interface PromptOptions {
  readonly io: TerminalIo;
  /** Absolute path; `undefined` keeps the history in memory. */
  readonly historyFile: string | undefined;
  readonly clock: Clock;
  /** Applied before an input is saved to the history. */
  redact(text: string): string;
  /** Default: `› `. */
  readonly prompt?: string;
  /** False where keys cannot be read one by one (`TERM=dumb`). Default: true. */
  readonly editing?: boolean;
}

function createPlainPrompt(io: TerminalIo, shown: string): Prompt {
  const reader = createLineReader(io.stdin);
  const output = outputOf(io.stderr);
  return {
    async read(signal) {
      if (io.stdinIsTty) output.write(shown);
      let text = await reader.next(signal);
      while (text !== undefined && isIncomplete(text)) {
        const next = await reader.next(signal);
        if (next === undefined) break;
        text = continued(text) + next;
      }
      return text;
    },
    tell: () => false,
    close: () => reader.close(),
  };
}

/** An editor on a terminal; line by line, with the same continuations and without a prompt, from a pipe. */
export async function createPrompt({ io, historyFile, clock, redact, prompt = '› ', editing = true }: PromptOptions): Promise<Prompt> {
  const outputIsTty = io.stdoutIsTty || io.stderrIsTty;
  if (!io.stdinIsTty || !outputIsTty || !editing) return createPlainPrompt(io, prompt);
  const history = await openHistory({ file: historyFile, redact });
  return createLineEditor({ input: io.stdin, output: io.stdoutIsTty ? io.stdout : io.stderr, history, clock, prompt });
}
