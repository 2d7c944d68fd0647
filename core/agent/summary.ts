import type { ModelEvent, ModelRequest } from '../../ports/llm.ts';
import type { Message } from '../../ports/message.ts';
import { estimateMessage } from '../budget/estimate.ts';
import { wrapUntrusted } from '../untrusted/wrapper.ts';
import type { RunState } from './state.ts';
import { usageOf, usageRecord } from './think.ts';

/** Why a run stops before the model gave an answer. */
export type EarlyStop = 'iteration' | 'execution' | 'time';

const MARKERS: Readonly<Record<EarlyStop, string>> = {
  iteration: '[Iteration budget reached — partial summary]',
  execution: '[Execution budget reached — partial summary]',
  time: '[Time budget reached — partial summary]',
};

const MAX_MESSAGES = 30;
const MAX_CHARS_PER_MESSAGE = 2000;
const SUMMARY_MAX_TOKENS = 1024;

const INSTRUCTIONS = `The run below stopped before it was finished. Write the report its user gets: what was done, what was found, what is still open, in that order, briefly. Use only what the transcript shows. You have no tools.`;

function excerpt(message: Message): string {
  const calls =
    message.role === 'assistant' && message.toolCalls?.length ? ` [called: ${message.toolCalls.map((c) => c.name).join(', ')}]` : '';
  const name = message.role === 'tool' ? ` ${message.name} (${message.outcome})` : '';
  const text = message.content.length > MAX_CHARS_PER_MESSAGE ? `${message.content.slice(0, MAX_CHARS_PER_MESSAGE)}…` : message.content;
  return `${message.role}${name}:${calls} ${text}`;
}

function summaryRequest(state: RunState, maxTokens: number): ModelRequest {
  const { messages } = state.transcript;
  const task = messages.findLast((message) => message.role === 'user')?.content ?? '';
  const recent = messages.filter((message) => message.role !== 'system').slice(-MAX_MESSAGES);
  const body = recent.map(excerpt).join('\n\n');
  return {
    model: state.settings.model,
    tools: [],
    stream: false,
    maxTokens,
    thinking: 'disabled',
    messages: [
      { role: 'system', content: INSTRUCTIONS },
      { role: 'user', content: `Task: ${task}\n\nTranscript:\n${wrapUntrusted(body, 'transcript', state.deps.ids.hex(8))}` },
    ],
  };
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
 * One bounded side call that turns an unfinished run into a report (RUNTIME-FACTS 1.8). Returns
 * `undefined` when the budget, the model or the time limit does not allow it; cancelling still cancels.
 */
export async function partialSummary(state: RunState, stop: EarlyStop): Promise<string | undefined> {
  const { budget, deps, settings, signal } = state;
  const timeout = new AbortController();
  const stopTimer = deps.clock.after(settings.sideCallTimeoutMs, () => timeout.abort());
  try {
    const draft = summaryRequest(state, SUMMARY_MAX_TOKENS);
    const inputTokens = draft.messages.reduce((sum, message) => sum + estimateMessage(message), 0);
    const reservation = budget.reserveModelCall({ inputTokens, maxOutputTokens: SUMMARY_MAX_TOKENS });
    try {
      const response = await askOnce(
        state,
        { ...draft, maxTokens: reservation.maxOutputTokens },
        AbortSignal.any([signal, timeout.signal]),
      );
      if (!response) return undefined;
      const usage = usageOf(response, inputTokens);
      await state.journal.append([usageRecord(state, usage, 'side', reservation.settle(usage))]);
      if (response.message.toolCalls?.length || response.message.content.trim() === '') return undefined;
      return `${MARKERS[stop]}\n\n${deps.redactor.text(response.message.content)}`;
    } finally {
      reservation.release();
    }
  } catch (error) {
    if (signal.aborted) throw error;
    return undefined;
  } finally {
    stopTimer();
  }
}
