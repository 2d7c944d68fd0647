import type { Clarification, Clarifier, Question } from '../../ports/clarifier.ts';
import type { Clock } from '../../ports/clock.ts';
import { createLineInput } from './line-input.ts';
import { inTurn } from './one-at-a-time.ts';
import { controllingTerminal, type Terminal } from './terminal.ts';

export interface TerminalClarifierOptions {
  /** The streams to talk over for each question. Default: the controlling terminal. */
  readonly terminal?: () => Terminal;
  readonly clock: Pick<Clock, 'after'>;
}

const MAX_ANSWER_CHARS = 4096;

/** Asks the person at the terminal, who answers with one line. */
export function createTerminalClarifier({ terminal = controllingTerminal, clock }: TerminalClarifierOptions): Clarifier {
  return {
    ask: inTurn(async ({ text, timeoutMs }: Question, signal: AbortSignal): Promise<Clarification> => {
      const { input, output, close } = terminal();
      const lines = createLineInput(input, MAX_ANSWER_CHARS);
      const silence = Promise.withResolvers<Clarification>();
      const giveUp = (): void => silence.resolve({ kind: 'unanswered', reason: 'ended' });
      const stopTimer = clock.after(timeoutMs, () => silence.resolve({ kind: 'unanswered', reason: 'timeout' }));
      signal.addEventListener('abort', giveUp, { once: true });
      lines.open();
      try {
        output.write(`\nodek asks: ${text}\nyour answer: `);
        const came = await Promise.race([lines.next().then(meaningOf), silence.promise]);
        if (came.kind === 'unanswered' && came.reason !== 'empty') output.write('\n(no answer)\n');
        return came;
      } finally {
        stopTimer();
        signal.removeEventListener('abort', giveUp);
        lines.close();
        close?.();
      }
    }),
  };
}

function meaningOf(line: { readonly text: string } | { readonly ended: true }): Clarification {
  if ('ended' in line) return { kind: 'unanswered', reason: 'ended' };
  const text = line.text.trim();
  return text === '' ? { kind: 'unanswered', reason: 'empty' } : { kind: 'answered', text };
}
