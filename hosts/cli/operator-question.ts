import type { Clock } from '../../ports/clock.ts';
import type { Edges } from '../environment.ts';

const WAIT_MS = 5 * 60_000;

/** Questions of odek's own to the person at the terminal; nobody where there is no terminal. */
export function operatorQuestion(clock: Pick<Clock, 'after'>, isThere: boolean): Pick<Edges, 'askOperator'> {
  if (!isThere) return {};
  return {
    async askOperator(text) {
      const { createTerminalClarifier } = await import('../../adapters/approver/clarifier.ts');
      const answer = await createTerminalClarifier({ clock }).ask({ text, timeoutMs: WAIT_MS }, new AbortController().signal);
      return answer.kind === 'answered' ? answer.text : '';
    },
  };
}
