import { CancelledError, hasCode, isOdekError } from '../../../ports/errors.ts';
import type { TerminalIo } from '../command.ts';
import { outputOf } from '../render/output.ts';
import { sanitise } from '../render/sanitise.ts';
import { builtInCommands, parseInput, type ReplCommands } from './commands.ts';
import type { Prompt } from './prompt.ts';

export interface ReplOptions {
  readonly prompt: Prompt;
  readonly io: TerminalIo;
  /** Runs one turn. `signal` fires at the first Ctrl-C; a turn that then rejects as cancelled is no error. */
  onTurn(text: string, signal: AbortSignal): Promise<void>;
  /** More commands, by name without the slash; they win over the built-in ones. */
  readonly commands?: ReplCommands;
  /** Lines of `/info`. */
  info?(): readonly string[];
  /** At the second Ctrl-C within a turn. Default: the process exits with 130. */
  kill?(): void;
  /** Calls `listener` at each Ctrl-C until the returned function is called. Default: SIGINT of the process. */
  onInterrupt?(listener: () => void): () => void;
}

const EXIT_INTERRUPTED = 130;

function onSigint(listener: () => void): () => void {
  process.on('SIGINT', listener);
  return () => process.removeListener('SIGINT', listener);
}

function exitNow(): void {
  process.exit(EXIT_INTERRUPTED);
}

function errorLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `error: ${message}${isOdekError(error) ? ` (${error.code})` : ''}`;
}

/**
 * Reads inputs and runs a turn for each until the person leaves. A turn that fails is told and the
 * repl goes on. Ctrl-C during a turn cancels that turn; the prompt itself handles Ctrl-C between turns.
 */
export async function runRepl(options: ReplOptions): Promise<void> {
  const { prompt, io, onTurn, kill = exitNow, onInterrupt = onSigint } = options;
  const stderr = outputOf(io.stderr);
  const print = (line: string): void => stderr.write(`${sanitise(line)}\n`);
  const commands: ReplCommands = { ...builtInCommands(() => commands, options.info ?? (() => [])), ...options.commands };

  const turn = async (text: string): Promise<void> => {
    const cancel = new AbortController();
    const stop = onInterrupt(() => {
      if (cancel.signal.aborted) kill();
      else cancel.abort(new CancelledError('the turn was cancelled by Ctrl-C'));
    });
    try {
      await onTurn(text, cancel.signal);
    } catch (error) {
      if (!hasCode(error, 'cancelled') || !cancel.signal.aborted) print(errorLine(error));
    } finally {
      stop();
    }
  };

  for (;;) {
    const input = await prompt.read();
    if (input === undefined) return;
    const parsed = parseInput(input, commands);
    if (parsed.kind === 'turn') await turn(parsed.text);
    else if (parsed.kind === 'unknown') print(parsed.message);
    else if (parsed.kind === 'command') {
      try {
        if ((await parsed.command.run(parsed.rest, print)) === 'leave') return;
      } catch (error) {
        print(errorLine(error));
      }
    }
  }
}
