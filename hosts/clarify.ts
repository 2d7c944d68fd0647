import { displayText } from '../core/approvals/display.ts';
import type { Clarifier } from '../ports/clarifier.ts';
import type { Clock } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import type { Edges } from './environment.ts';

const ID_BYTES = 8;

/** The person of a surface, as the tool asks them: with text that is safe to show and has no secret in it, and told as events, so that a view makes room. */
export function announced(
  clarifier: Clarifier,
  edges: Pick<Edges, 'onEvent'>,
  clock: Pick<Clock, 'now'>,
  ids: Ids,
  redact: (text: string) => string,
): Clarifier {
  return {
    async ask(question, signal) {
      const base = { runId: question.run ?? '', question_id: ids.hex(ID_BYTES) };
      const text = displayText(redact(question.text));
      edges.onEvent({ ...base, type: 'question_asked', text, at: clock.now() });
      try {
        return await clarifier.ask({ ...question, text }, signal);
      } finally {
        edges.onEvent({ ...base, type: 'question_answered', at: clock.now() });
      }
    },
  };
}
