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
  /** Commands that come and go; all others win over them. */
  lateCommands?(): ReplCommands;
  /** Waited for before a command counts as unknown and before all are listed. */
  commandsReady?(signal: AbortSignal): Promise<void>;
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
  const fixed: ReplCommands = { ...builtInCommands(() => commands(), options.info ?? (() => [])), ...options.commands };
  const commands = (): ReplCommands => ({ ...options.lateCommands?.(), ...fixed });

  /** The first Ctrl-C cancels `work`, the second ends odek. What fails is told, and gives undefined. */
  const interruptible = async <Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result | undefined> => {
    const cancel = new AbortController();
    const stop = onInterrupt(() => {
      if (cancel.signal.aborted) kill();
      else cancel.abort(new CancelledError('cancelled by Ctrl-C'));
    });
    try {
      return await work(cancel.signal);
    } catch (error) {
      if (!hasCode(error, 'cancelled') || !cancel.signal.aborted) print(errorLine(error));
      return undefined;
    } finally {
      stop();
    }
  };
  const turn = (text: string) => interruptible((signal) => onTurn(text, signal));

  const parsed = async (input: string) => {
    const first = parseInput(input, commands());
    const { commandsReady } = options;
    const mayChange = first.kind === 'unknown' || (first.kind === 'command' && first.command === fixed.help);
    if (!mayChange || commandsReady === undefined) return first;
    await interruptible(commandsReady);
    return parseInput(input, commands());
  };

  for (;;) {
    const input = await prompt.read();
    if (input === undefined) return;
    const asked = await parsed(input);
    if (asked.kind === 'turn') await turn(asked.text);
    else if (asked.kind === 'unknown') print(asked.message);
    else if (asked.kind === 'command') {
      const result = await interruptible(async (signal) => asked.command.run(asked.rest, print, signal));
      if (result === 'leave') return;
      if (typeof result === 'object') await turn(result.turn);
    }
  }
}
