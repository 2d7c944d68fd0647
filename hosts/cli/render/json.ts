import type { RunResult } from '../../../ports/run.ts';
import { createPipedView, type PipedViewOptions } from './piped.ts';
import type { RunView } from './run-view.ts';

/** Characters that JSON may hold raw but a terminal may act on; escaped, they are the same JSON. */
const RAW_IN_JSON = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * The result as one line of JSON: `{answer, outcome, session_id, run_id, iterations, usage, cost_usd,
 * duration_ms}`, and `error` when there is one. `cost_usd` is null when no price is configured.
 */
function resultJson(result: RunResult): string {
  const { answer, outcome, session_id, run_id, iterations, usage, duration_ms, error } = result;
  const shape = {
    answer,
    outcome,
    session_id,
    run_id,
    iterations,
    usage,
    cost_usd: result.cost_usd ?? null,
    duration_ms,
    ...(error !== undefined && { error }),
  };
  return JSON.stringify(shape).replace(RAW_IN_JSON, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** One result object on stdout, whatever the outcome; progress on stderr as in the piped view. */
export function createJsonView(options: Omit<PipedViewOptions, 'printResult'>): RunView {
  return createPipedView({ ...options, printResult: (result) => `${resultJson(result)}\n` });
}
