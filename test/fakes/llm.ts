import { setTimeout as delay } from 'node:timers/promises';
import { CancelledError } from '../../ports/errors.ts';
import type { FinishReason, LlmProvider, ModelEvent, ModelInfo, ModelLimits, ModelRequest } from '../../ports/llm.ts';
import { ProviderError } from '../../ports/llm.ts';
import type { Usage } from '../../ports/message.ts';

/** One scripted reply. Everything is optional; an empty step answers with empty text. */
export interface ScriptedStep {
  readonly reasoning?: string | readonly string[];
  /** A list is streamed as that many deltas. */
  readonly text?: string | readonly string[];
  /** `id` defaults to `call_<request>_<index>`. */
  readonly calls?: readonly { readonly id?: string; readonly name: string; readonly arguments?: string | object }[];
  readonly finish?: FinishReason;
  /** `null`: the provider reports none. Default: 10 in, 5 out. */
  readonly usage?: Usage | null;
  /** Thrown after the deltas, in place of the response. */
  readonly error?: Error;
  /** Milliseconds before the first event. */
  readonly delayMs?: number;
  /** Never answers; ends with the signal only. */
  readonly hang?: boolean;
}

export type ScriptedReply = ScriptedStep | ((request: ModelRequest, number: number) => ScriptedStep | Promise<ScriptedStep>);

export interface ScriptedProvider extends LlmProvider {
  /** Every request so far, as it was given. */
  readonly requests: readonly ModelRequest[];
  readonly closed: boolean;
}

export interface ScriptedOptions {
  readonly name?: string;
  readonly limits?: ModelLimits;
  /** Absent: it cannot list any. */
  readonly models?: readonly ModelInfo[];
}

/** A provider in memory that plays `steps`, one a request; a function alone answers every request. */
export function createScriptedProvider(steps: readonly ScriptedReply[] | ScriptedReply, options: ScriptedOptions = {}): ScriptedProvider {
  const requests: ModelRequest[] = [];
  let closed = false;
  return {
    name: options.name ?? 'scripted',
    requests,
    get closed() {
      return closed;
    },
    async *stream(request, signal) {
      if (signal.aborted) throw new CancelledError();
      const number = requests.push(request);
      const scripted = Array.isArray(steps) ? (steps as readonly ScriptedReply[])[number - 1] : (steps as ScriptedReply);
      if (scripted === undefined)
        throw new ProviderError('invalid_response', `the script has no reply for request ${number}`, { value: number });
      const step = typeof scripted === 'function' ? await scripted(request, number) : scripted;
      yield* play(step, number, signal);
    },
    limits: () => options.limits ?? {},
    ...(options.models && { models: async () => options.models ?? [] }),
    close: async () => {
      closed = true;
    },
  };
}

async function* play(step: ScriptedStep, number: number, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  if (step.delayMs !== undefined) await wait(step.delayMs, signal);
  if (step.hang === true) await wait(2 ** 31 - 1, signal);
  const reasoning = toList(step.reasoning);
  const text = toList(step.text);
  for (const part of reasoning) yield { type: 'reasoning_delta', text: part };
  for (const part of text) {
    if (signal.aborted) throw new CancelledError();
    yield { type: 'text_delta', text: part };
  }
  if (step.error !== undefined) throw step.error;
  const calls = (step.calls ?? []).map((call, index) => ({
    id: call.id ?? `call_${number}_${index}`,
    name: call.name,
    arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments ?? {}),
  }));
  yield {
    type: 'response',
    message: {
      role: 'assistant',
      content: text.join(''),
      ...(reasoning.length === 0 ? {} : { reasoning: reasoning.join('') }),
      ...(calls.length === 0 ? {} : { toolCalls: calls }),
    },
    finish: step.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    ...(step.usage === null ? {} : { usage: step.usage ?? { input: 10, output: 5, estimated: false } }),
  };
}

function toList(text: string | readonly string[] | undefined): readonly string[] {
  if (text === undefined || text === '') return [];
  return typeof text === 'string' ? [text] : text;
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, { signal });
  } catch {
    throw new CancelledError();
  }
}
