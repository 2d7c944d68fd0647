import type { Clarification } from '../../ports/clarifier.ts';
import { definePlugin, defineTool, type ToolResult } from '../../ports/plugin.ts';

const MAX_QUESTION_CHARS = 4000;
const MAX_RESULT_CHARS = 16_000;
const TIMEOUT_MS = 300_000;
/** The call's own limit lies above the question's, which also waits for its turn at the terminal. */
const CALL_LIMIT_MS = 2 * TIMEOUT_MS;

const SILENCE = {
  empty: 'the person gave no answer',
  ended: 'the person cannot be asked any more',
  timeout: `nobody answered within ${TIMEOUT_MS / 1000} s`,
} as const;

/** Asking the person. */
export default definePlugin({
  name: 'clarify',
  inject: ['tools', 'clarifier'],
  apply({ tools, clarifier }) {
    tools.register(
      defineTool<{ readonly question: string }>({
        name: 'clarify',
        description: 'Ask the person one question and wait for the answer, when the task cannot go on without it. Not for approvals.',
        parameters: {
          type: 'object',
          properties: { question: { type: 'string', minLength: 1, maxLength: MAX_QUESTION_CHARS } },
          required: ['question'],
        },
        maxResultChars: MAX_RESULT_CHARS,
        timeoutMs: CALL_LIMIT_MS,
        effects: () => ({}),
        execute: async ({ question }, { signal, runId }) =>
          resultOf(await clarifier.ask({ text: question, timeoutMs: TIMEOUT_MS, run: runId }, signal)),
      }),
    );
  },
});

function resultOf(came: Clarification): ToolResult {
  if (came.kind === 'answered') return { content: JSON.stringify({ answer: came.text }) };
  const error = `${SILENCE[came.reason]}; go on with the most reasonable assumption and name it in your answer`;
  return { content: JSON.stringify({ error }), failed: true };
}
