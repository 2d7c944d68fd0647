import type { Message } from '../../ports/message.ts';
import { wrapUntrusted } from '../untrusted/wrapper.ts';
import { sideCall } from './side-call.ts';
import type { RunState } from './state.ts';

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

/** What the stages say is still to be done, each on a line of its own. */
export function remainingWork(state: RunState): string {
  return state.stages.flatMap((stage) => stage.remaining?.(state) ?? []).join('\n');
}

/**
 * One bounded side call that turns an unfinished run into a report (RUNTIME-FACTS 1.8). Returns
 * `undefined` when the budget, the model or the time limit does not allow it; cancelling still cancels.
 */
export async function partialSummary(state: RunState, stop: EarlyStop): Promise<string | undefined> {
  const { messages } = state.transcript;
  const task = messages.findLast((message) => message.role === 'user')?.content ?? '';
  const recent = messages.filter((message) => message.role !== 'system').slice(-MAX_MESSAGES);
  const body = [remainingWork(state), ...recent.map(excerpt)].filter(Boolean).join('\n\n');
  const transcript = wrapUntrusted(body, 'transcript', state.deps.ids.hex(8));
  const report = await sideCall(state, {
    maxTokens: SUMMARY_MAX_TOKENS,
    messages: [
      { role: 'system', content: INSTRUCTIONS },
      { role: 'user', content: `Task: ${task}\n\nTranscript:\n${transcript}` },
    ],
  });
  return report === undefined ? undefined : `${MARKERS[stop]}\n\n${report}`;
}
