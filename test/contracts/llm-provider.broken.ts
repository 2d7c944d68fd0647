import { setTimeout as delay } from 'node:timers/promises';
import { CancelledError } from '../../ports/errors.ts';
import type { LlmProvider, ModelEvent } from '../../ports/llm.ts';
import { ProviderError } from '../../ports/llm.ts';
import { createScriptedProvider, type ScriptedStep } from '../fakes/llm.ts';
import { type LlmProviderHarness, type LlmScenario, SCENARIO_ANSWERS } from './llm-provider.suite.ts';
import type { BrokenAdapter } from './suite.ts';

/** What the scripted fake plays for each scenario. */
export function scriptedStep(scenario: LlmScenario): ScriptedStep {
  switch (scenario) {
    case 'rate_limited':
      return { error: new ProviderError('rate_limited', 'slow down', { status: 429, retryable: true }) };
    case 'cut_stream':
      return { text: SCENARIO_ANSWERS.plain_text.text, error: new ProviderError('stream_incomplete', 'cut', { retryable: true }) };
    case 'never_ending':
      return { hang: true };
    case 'byte_by_byte': {
      const { text, calls } = SCENARIO_ANSWERS.two_parallel_calls;
      return { text: [...text.join('')], calls };
    }
    default:
      return SCENARIO_ANSWERS[scenario];
  }
}

/** The scripted fake as a harness, or one made wrong by `wrap`. */
export function scriptedHarness(
  wrap: (provider: LlmProvider, scenario: LlmScenario) => LlmProvider = (provider) => provider,
): LlmProviderHarness {
  return {
    async make(scenario) {
      const scripted = createScriptedProvider(() => scriptedStep(scenario), { models: [{ id: 'scripted', contextWindow: 8_192 }] });
      return { provider: wrap(scripted, scenario), requests: () => scripted.requests.length, dispose: () => scripted.close() };
    },
  };
}

type Change = (events: AsyncIterable<ModelEvent>, signal: AbortSignal) => AsyncIterable<ModelEvent>;

function withEvents(change: Change): LlmProviderHarness {
  return scriptedHarness((provider) => ({
    ...provider,
    stream: (request, signal) => change(provider.stream(request, signal), signal),
  }));
}

function mapEvents(map: (event: ModelEvent) => readonly ModelEvent[]): LlmProviderHarness {
  return withEvents(async function* (events) {
    for await (const event of events) yield* map(event);
  });
}

type Response = Extract<ModelEvent, { type: 'response' }>;

function mapResponse(map: (response: Response) => readonly ModelEvent[]): LlmProviderHarness {
  return mapEvents((event) => (event.type === 'response' ? map(event) : [event]));
}

function mapCalls(map: (id: string, index: number) => string): LlmProviderHarness {
  return mapResponse((response) => {
    const calls = response.message.toolCalls?.map((call, index) => ({ ...call, id: map(call.id, index) }));
    return [{ ...response, message: { ...response.message, ...(calls && { toolCalls: calls }) } }];
  });
}

export const brokenLlmProviders: readonly BrokenAdapter<LlmProviderHarness>[] = [
  { name: 'gives no response', caughtBy: 'llm-provider/one-response-last', harness: mapResponse(() => []) },
  { name: 'gives two responses', caughtBy: 'llm-provider/one-response-last', harness: mapResponse((response) => [response, response]) },
  {
    name: 'goes on after its response',
    caughtBy: 'llm-provider/one-response-last',
    harness: mapResponse((response) => [response, { type: 'keep_alive' }]),
  },
  {
    name: 'leaves out the first tool call',
    caughtBy: 'llm-provider/whole-answer',
    harness: mapResponse((response) => [
      { ...response, message: { ...response.message, toolCalls: response.message.toolCalls?.slice(1) ?? [] } },
    ]),
  },
  {
    name: 'shows reasoning as text',
    caughtBy: 'llm-provider/deltas-add-up',
    harness: mapEvents((event) => [event.type === 'reasoning_delta' ? { ...event, type: 'text_delta' } : event]),
  },
  { name: 'gives an empty id', caughtBy: 'llm-provider/call-identity', harness: mapCalls(() => '') },
  { name: 'gives an id twice', caughtBy: 'llm-provider/call-identity', harness: mapCalls(() => 'call') },
  {
    name: 'decodes each piece by itself',
    caughtBy: 'llm-provider/any-cut',
    harness: scriptedHarness((provider, scenario) => ({
      ...provider,
      async *stream(request, signal) {
        for await (const event of provider.stream(request, signal)) {
          if (event.type !== 'response' || scenario !== 'byte_by_byte') yield event;
          else yield { ...event, message: { ...event.message, content: event.message.content.replace(/[^ -~]/g, '\ufffd') } };
        }
      },
    })),
  },
  {
    name: 'throws plain errors',
    caughtBy: 'llm-provider/failure-is-typed',
    harness: withEvents(async function* (events) {
      try {
        yield* events;
      } catch (error) {
        throw error instanceof CancelledError ? error : new Error('429 Too Many Requests');
      }
    }),
  },
  {
    name: 'takes half a reply for an answer',
    caughtBy: 'llm-provider/cut-is-a-failure',
    harness: withEvents(async function* (events) {
      let text = '';
      try {
        for await (const event of events) {
          if (event.type === 'text_delta') text += event.text;
          yield event;
        }
      } catch (error) {
        if (text === '') throw error;
        yield { type: 'response', message: { role: 'assistant', content: text }, finish: 'stop' };
      }
    }),
  },
  {
    name: 'ignores the signal',
    caughtBy: 'llm-provider/abort-is-prompt',
    harness: scriptedHarness((provider, scenario) => ({
      ...provider,
      async *stream(request) {
        if (scenario === 'never_ending') await delay(2 ** 31 - 1, undefined, { ref: false });
        yield* provider.stream(request, new AbortController().signal);
      },
    })),
  },
  {
    name: 'leaves its connection open',
    caughtBy: 'llm-provider/abort-is-prompt',
    harness: {
      async make(scenario) {
        return { ...(await scriptedHarness().make(scenario)), connections: () => 1 };
      },
    },
  },
  {
    name: 'answers although it was cancelled before',
    caughtBy: 'llm-provider/aborted-before',
    harness: scriptedHarness((provider) => ({ ...provider, stream: (request) => provider.stream(request, new AbortController().signal) })),
  },
  {
    name: 'tries again by itself',
    caughtBy: 'llm-provider/no-retry',
    harness: scriptedHarness((provider) => ({
      ...provider,
      async *stream(request, signal) {
        try {
          yield* provider.stream(request, signal);
        } catch {
          yield* provider.stream(request, signal);
        }
      },
    })),
  },
  {
    name: 'says 0 for a window that it does not know',
    caughtBy: 'llm-provider/limits',
    harness: scriptedHarness((provider) => ({ ...provider, limits: () => ({ contextWindow: 0 }) })),
  },
  {
    name: 'lists a model twice',
    caughtBy: 'llm-provider/models',
    harness: scriptedHarness((provider) => ({ ...provider, models: async () => [{ id: 'a' }, { id: 'a', contextWindow: 8_192 }] })),
  },
  {
    name: 'lists a model with no room',
    caughtBy: 'llm-provider/models',
    harness: scriptedHarness((provider) => ({ ...provider, models: async () => [{ id: 'a', contextWindow: 0 }] })),
  },
  {
    name: 'fails when it is closed again',
    caughtBy: 'llm-provider/close-twice',
    harness: scriptedHarness((provider) => {
      let closed = false;
      return {
        ...provider,
        async close() {
          if (closed) throw new Error('already closed');
          closed = true;
        },
      };
    }),
  },
];
