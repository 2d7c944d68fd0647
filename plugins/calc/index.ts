import { definePlugin, defineTool, type ToolResult } from '../../ports/plugin.ts';
import { ExpressionError, evaluate } from './expression.ts';

const MAX_BYTES = 64 * 1024;
const MAX_RESULT_CHARS = 1000;

function calculated(expression: string): ToolResult {
  const size = new TextEncoder().encode(expression).length;
  if (size > MAX_BYTES) return failure(`expression has ${size} bytes; at most ${MAX_BYTES} are taken`);
  try {
    return { content: JSON.stringify({ result: evaluate(expression) }) };
  } catch (error) {
    if (error instanceof ExpressionError) return failure(error.message);
    throw error;
  }
}

function failure(error: string): ToolResult {
  return { content: JSON.stringify({ error }), failed: true };
}

/** Arithmetic. */
export default definePlugin({
  name: 'calc',
  inject: ['tools'],
  apply({ tools }) {
    tools.register(
      defineTool<{ readonly expression: string }>({
        name: 'math_eval',
        description: 'Calculate with + - * / % (remainder) and parentheses in double precision: {result}.',
        parameters: { type: 'object', properties: { expression: { type: 'string' } }, required: ['expression'] },
        maxResultChars: MAX_RESULT_CHARS,
        effects: () => ({}),
        execute: async ({ expression }) => calculated(expression),
      }),
    );
  },
});
