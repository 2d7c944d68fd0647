import type { ModelEvent, ModelRequest } from '../../ports/llm.ts';
import type { Message } from '../../ports/message.ts';
import type { JournalRecord } from '../../ports/session.ts';
import type { ModelReservation } from '../budget/budget.ts';
import { estimateMessage } from '../budget/estimate.ts';
import type { RunState } from './state.ts';
import { usageOf, usageRecord } from './think.ts';

/** A model call beside the loop: no tools, thinking off, buffered, with an output cap of its own. */
export interface SideCall {
  readonly messages: readonly Message[];
  readonly maxTokens: number;
  /** Another model of the same provider; the run's own when absent. */
  readonly model?: string;
  /** Made only where this share of what is left of the budget covers all of it: the rest is for the run, which goes on meanwhile. */
  readonly withinShare?: number;
  /** A reply that was cut off is none. */
  readonly whole?: boolean;
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

interface Answered {
  readonly response: Extract<ModelEvent, { type: 'response' }>;
  readonly record: JournalRecord;
}

/** The reply and what it cost; `undefined` when budget, model or time do not allow one. Only cancelling rejects. */
async function ask(state: RunState, call: SideCall, signal: AbortSignal): Promise<Answered | undefined> {
  const inputTokens = call.messages.reduce((sum, message) => sum + estimateMessage(message), 0);
  const model = call.model ?? state.settings.model;
  let reservation: ModelReservation | undefined;
  try {
    reservation = state.budget.reserveModelCall({
      inputTokens,
      maxOutputTokens: call.maxTokens,
      ...(call.model !== undefined && { model }),
      ...(call.withinShare !== undefined && { share: call.withinShare }),
    });
    const maxTokens = reservation.maxOutputTokens;
    if (call.withinShare !== undefined && maxTokens < call.maxTokens) return undefined;
    const request: ModelRequest = { model, messages: call.messages, tools: [], stream: false, maxTokens, thinking: 'disabled' };
    const response = await askOnce(state, request, signal);
    if (!response) return undefined;
    const usage = usageOf(response, inputTokens);
    return { response, record: usageRecord(state, usage, { purpose: 'side', model, costMicroUsd: reservation.settle(usage) }) };
  } catch (error) {
    if (state.signal.aborted) throw error;
    return undefined;
  } finally {
    reservation?.release();
  }
}

/**
 * Asks once and returns the redacted text. Reserved, settled and journalled like any other call, bound
 * by the side-call time limit and by `signal`. `undefined` when the budget, the model or the time
 * does not allow it, or the reply asks for tools, is empty or cut where it must be whole; rejects when the run is cancelled or
 * the journal cannot be written.
 */
export async function sideCall(state: RunState, call: SideCall, signal: AbortSignal = state.signal): Promise<string | undefined> {
  const timeout = new AbortController();
  const stopTimer = state.deps.clock.after(state.settings.sideCallTimeoutMs, () => timeout.abort());
  try {
    const answered = await ask(state, call, AbortSignal.any([signal, timeout.signal]));
    if (!answered) return undefined;
    await state.journal.append([answered.record]);
    const { message, finish } = answered.response;
    if (message.toolCalls?.length || message.content.trim() === '') return undefined;
    if (call.whole && finish !== 'stop') return undefined;
    return state.deps.redactor.text(message.content);
  } finally {
    stopTimer();
  }
}
