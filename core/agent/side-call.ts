import type { ModelEvent, ModelRequest } from '../../ports/llm.ts';
import type { Message } from '../../ports/message.ts';
import { estimateMessage } from '../budget/estimate.ts';
import type { RunState } from './state.ts';
import { usageOf, usageRecord } from './think.ts';

/** A model call beside the loop: no tools, thinking off, buffered, with an output cap of its own. */
export interface SideCall {
  readonly messages: readonly Message[];
  readonly maxTokens: number;
  /** Another model of the same provider; the run's own when absent. */
  readonly model?: string;
}

async function askOnce(
  state: RunState,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Extract<ModelEvent, { type: 'response' }> | undefined> {
  for await (const event of state.deps.provider.stream(request, signal)) {
    if (event.type === 'response') return event;
  }
  return undefined;
}

/**
 * Asks once and returns the redacted text. Reserved, settled and journalled like any other call, bound
 * by the side-call time limit and by `signal`. `undefined` when the budget, the model or the time
 * does not allow it, or the reply asks for tools or is empty; only cancelling rejects.
 */
export async function sideCall(state: RunState, call: SideCall, signal: AbortSignal = state.signal): Promise<string | undefined> {
  const { budget, deps, settings } = state;
  const timeout = new AbortController();
  const stopTimer = deps.clock.after(settings.sideCallTimeoutMs, () => timeout.abort());
  try {
    const inputTokens = call.messages.reduce((sum, message) => sum + estimateMessage(message), 0);
    const reservation = budget.reserveModelCall({
      inputTokens,
      maxOutputTokens: call.maxTokens,
      ...(call.model !== undefined && { model: call.model }),
    });
    try {
      const request: ModelRequest = {
        model: call.model ?? settings.model,
        messages: call.messages,
        tools: [],
        stream: false,
        maxTokens: reservation.maxOutputTokens,
        thinking: 'disabled',
      };
      const response = await askOnce(state, request, AbortSignal.any([signal, timeout.signal]));
      if (!response) return undefined;
      const usage = usageOf(response, inputTokens);
      await state.journal.append([
        usageRecord(state, usage, { purpose: 'side', model: request.model, costMicroUsd: reservation.settle(usage) }),
      ]);
      if (response.message.toolCalls?.length || response.message.content.trim() === '') return undefined;
      return deps.redactor.text(response.message.content);
    } finally {
      reservation.release();
    }
  } catch (error) {
    if (state.signal.aborted) throw error;
    return undefined;
  } finally {
    stopTimer();
  }
}
