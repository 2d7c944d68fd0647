import { BudgetExceeded } from '../../ports/budget.ts';
import { isOdekError } from '../../ports/errors.ts';
import type { RunOutcome, RunResult } from '../../ports/run.ts';
import { errorClass } from '../events/error-class.ts';
import { type RunState, tokensPerSecond } from './state.ts';
import { type EarlyStop, partialSummary } from './summary.ts';

/** How the loop left: with a text, or with what stopped it. */
export type Ended =
  | { readonly kind: 'answer'; readonly answer: string; readonly partial: boolean }
  | { readonly kind: 'stopped'; readonly error: unknown; readonly answer?: string };

/** What a signal's reason or a thrown error means for the run. The budget's own abort wins over the cancellation it caused. */
export function stoppedBy(error: unknown, signal: AbortSignal): unknown {
  return signal.aborted && isOdekError(signal.reason) ? signal.reason : error;
}

function outcomeOf(ended: Ended, signal: AbortSignal): RunOutcome {
  if (ended.kind === 'answer') return ended.partial ? 'partial' : 'answer';
  if (ended.error instanceof BudgetExceeded) return 'budget';
  return signal.aborted || (isOdekError(ended.error) && ended.error.code === 'cancelled') ? 'cancelled' : 'failed';
}

function errorOf(state: RunState, error: unknown): { readonly code: string; readonly message: string } {
  const code = isOdekError(error) ? error.code : 'internal_error';
  const message = error instanceof Error ? error.message : String(error);
  return { code, message: state.deps.redactor.text(message) };
}

/** The answer that a stage held back, when the run stops before there is a better one. It is stored already. */
export function heldBack(state: RunState): string | undefined {
  return state.stages.map((stage) => stage.heldBack?.()).find((text) => text !== undefined);
}

/** A report in place of the answer, where the facts allow one (RUNTIME-FACTS 1.8). An answer that was held back is better than any. */
export async function reportFor(state: RunState, stop: EarlyStop): Promise<string | undefined> {
  const held = heldBack(state);
  if (held !== undefined) return held;
  const report = await partialSummary(state, stop);
  if (report === undefined) return undefined;
  const message = { role: 'assistant', content: report } as const;
  const seq = await state.journal.append([{ kind: 'message', run: state.runId, iteration: state.iteration + 1, message }]);
  state.transcript.push(message, seq);
  return report;
}

function emitEnd(state: RunState, ended: Ended, durationMs: number): void {
  const { usage } = state.budget.spent();
  const speed = tokensPerSecond(state.llmOutputTokens, state.llmMs);
  const llm = { llm_duration_ms: Math.round(state.llmMs), ...(speed !== undefined && { tokens_per_second: speed }) };
  const duration_ms = Math.round(durationMs);
  if (ended.kind === 'answer') {
    state.emit({
      type: 'run_completed',
      data: { duration_ms, input_tokens: usage.input, output_tokens: usage.output, ...llm },
    });
    return;
  }
  if (ended.error instanceof BudgetExceeded) {
    const { limitName, observed, limit } = ended.error;
    state.emit({ type: 'budget_exceeded', data: { limit_name: limitName, observed, limit: Number(limit) } });
  }
  const error_class = state.signal.aborted && !(ended.error instanceof BudgetExceeded) ? 'context_canceled' : errorClass(ended.error);
  state.emit({ type: 'run_failed', data: { duration_ms, error_class, ...(state.llmMs > 0 && llm) } });
}

/** Tells the end of the run and makes its result. */
export function conclude(state: RunState, ended: Ended, report: string | undefined): RunResult {
  const durationMs = state.deps.clock.monotonic() - state.startedAt;
  emitEnd(state, ended, durationMs);
  const { usage, costMicroUsd } = state.budget.spent();
  return {
    answer: ended.answer ?? report ?? '',
    outcome: outcomeOf(ended, state.signal),
    session_id: state.sessionId,
    run_id: state.runId,
    iterations: state.iteration,
    usage,
    ...(costMicroUsd !== undefined && { cost_usd: costMicroUsd / 1_000_000 }),
    duration_ms: Math.round(durationMs),
    ...(ended.kind === 'stopped' && { error: errorOf(state, ended.error) }),
  };
}
