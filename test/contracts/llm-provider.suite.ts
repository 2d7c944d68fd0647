import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../../ports/errors.ts';
import type { LlmProvider, ModelEvent, ModelRequest, ProviderError } from '../../ports/llm.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

/** What a subject must be made to do. Its texts and calls are those of {@link SCENARIO_ANSWERS}. */
export type LlmScenario =
  | 'plain_text'
  | 'reasoning_and_text'
  | 'one_tool_call'
  | 'two_parallel_calls'
  /** `two_parallel_calls`, delivered in the smallest pieces that the subject can get. */
  | 'byte_by_byte'
  /** `plain_text`, broken off before its end. */
  | 'cut_stream'
  /** Refused because of too many requests. */
  | 'rate_limited'
  /** Starts and then goes on for ever, or never starts. */
  | 'never_ending';

export interface LlmSubject {
  readonly provider: LlmProvider;
  /** Requests that reached the other side; absent where there is no other side to count. */
  requests?(): number;
  /** Open connections; absent where there are none. */
  connections?(): number;
  dispose(): Promise<void>;
}

export interface LlmProviderHarness {
  /** True where the other side gives calls no ids, so that those of {@link SCENARIO_ANSWERS} cannot be expected. */
  readonly withoutCallIds?: boolean;
  /** A fresh subject that answers any request by `scenario`. */
  make(scenario: LlmScenario): Promise<LlmSubject>;
}

export const SCENARIO_ANSWERS = {
  plain_text: { text: ['Hello, ', 'wörld ', '🎉'], reasoning: [], calls: [] },
  reasoning_and_text: { text: ['Four', '.'], reasoning: ['Two and ', 'two…'], calls: [] },
  one_tool_call: { text: [], reasoning: [], calls: [{ id: 'call_a', name: 'read_file', arguments: '{"path":"a.txt"}' }] },
  two_parallel_calls: {
    text: ['Lööking.'],
    reasoning: [],
    calls: [
      { id: 'call_a', name: 'read_file', arguments: '{"path":"ä.txt"}' },
      { id: 'call_b', name: 'glob', arguments: '{"pattern":"*.ts"}' },
    ],
  },
} as const;

type Answered = keyof typeof SCENARIO_ANSWERS;

const REQUEST: ModelRequest = {
  model: 'contract-model',
  messages: [{ role: 'user', content: 'Go on.' }],
  tools: [
    { name: 'read_file', description: 'Reads a file.', parameters: { type: 'object' } },
    { name: 'glob', description: 'Finds files.', parameters: { type: 'object' } },
  ],
  stream: true,
};

/** Generous: only a hang is longer. */
const PROMPT_MS = 2_500;

async function collect(provider: LlmProvider, signal = new AbortController().signal): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of provider.stream(REQUEST, signal)) events.push(event);
  return events;
}

async function withSubject(harness: LlmProviderHarness, scenario: LlmScenario, use: (subject: LlmSubject) => Promise<void>): Promise<void> {
  const subject = await harness.make(scenario);
  try {
    await use(subject);
  } finally {
    await subject.dispose();
  }
}

async function eachAnswer(harness: LlmProviderHarness, check: (events: readonly ModelEvent[], scenario: Answered) => void): Promise<void> {
  for (const scenario of Object.keys(SCENARIO_ANSWERS) as Answered[]) {
    await withSubject(harness, scenario, async ({ provider }) => check(await collect(provider), scenario));
  }
}

function response(events: readonly ModelEvent[]): Extract<ModelEvent, { type: 'response' }> {
  const last = events.at(-1);
  assert.equal(last?.type, 'response', 'the last event is a response');
  return last as Extract<ModelEvent, { type: 'response' }>;
}

async function failureOf(run: Promise<unknown>): Promise<unknown> {
  return run.then(
    () => assert.fail('the call should have failed'),
    (error: unknown) => error,
  );
}

function assertProviderError(error: unknown): asserts error is ProviderError {
  const { name, retryable, code } = error as Partial<ProviderError>;
  assert.equal(name, 'ProviderError');
  assert.equal(typeof code, 'string');
  assert.equal(typeof retryable, 'boolean', 'the error says whether a retry can help');
}

async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  const timeout = new AbortController();
  const late = delay(PROMPT_MS, undefined, { signal: timeout.signal }).then(() => assert.fail(`${what} within ${PROMPT_MS} ms`));
  late.catch(() => undefined);
  return Promise.race([promise, late]).finally(() => timeout.abort());
}

const cases: ContractCase<LlmProviderHarness>[] = [
  {
    id: 'llm-provider/one-response-last',
    sentence: '`stream` yields exactly one `response`, as the last event.',
    run: (harness) =>
      eachAnswer(harness, (events) => {
        response(events);
        assert.equal(events.filter(({ type }) => type === 'response').length, 1);
      }),
  },
  {
    id: 'llm-provider/whole-answer',
    sentence: '`response.message` carries the whole answer.',
    run: (harness) =>
      eachAnswer(harness, (events, scenario) => {
        const { text, reasoning, calls } = SCENARIO_ANSWERS[scenario];
        const { message, finish } = response(events);
        assert.equal(message.role, 'assistant');
        assert.equal(message.content, text.join(''));
        assert.equal(message.reasoning ?? '', reasoning.join(''));
        const got = message.toolCalls ?? [];
        assert.deepEqual(
          got.map((call, at) => (harness.withoutCallIds === true ? { ...call, id: calls[at]?.id } : call)),
          calls,
        );
        assert.equal(finish, calls.length > 0 ? 'tool_calls' : 'stop');
      }),
  },
  {
    id: 'llm-provider/deltas-add-up',
    sentence: "The concatenated deltas equal the response's text and reasoning.",
    run: (harness) =>
      eachAnswer(harness, (events) => {
        const { message } = response(events);
        const told = (type: ModelEvent['type']): string =>
          events.map((event) => (event.type === type && 'text' in event ? event.text : '')).join('');
        assert.equal(told('text_delta'), message.content);
        assert.equal(told('reasoning_delta'), message.reasoning ?? '');
      }),
  },
  {
    id: 'llm-provider/call-identity',
    sentence: 'Every tool call of the response has a non-empty id and name, and ids are unique in it.',
    run: (harness) =>
      eachAnswer(harness, (events) => {
        const calls = response(events).message.toolCalls ?? [];
        for (const call of calls) assert.ok(call.id !== '' && call.name !== '', 'id and name are not empty');
        assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length);
      }),
  },
  {
    id: 'llm-provider/any-cut',
    sentence: "The result is the same however the reply's bytes are cut into chunks.",
    run: (harness) =>
      withSubject(harness, 'two_parallel_calls', (whole) =>
        withSubject(harness, 'byte_by_byte', async (pieces) => {
          assert.deepEqual(response(await collect(pieces.provider)).message, response(await collect(whole.provider)).message);
        }),
      ),
  },
  {
    id: 'llm-provider/failure-is-typed',
    sentence: 'A failure is thrown as `ProviderError`.',
    run: (harness) =>
      withSubject(harness, 'rate_limited', async ({ provider }) => {
        const error = await failureOf(collect(provider));
        assertProviderError(error);
        assert.equal(error.code, 'rate_limited');
        assert.equal(error.retryable, true);
      }),
  },
  {
    id: 'llm-provider/cut-is-a-failure',
    sentence: 'A reply that ends early is a failure, not an answer.',
    run: (harness) =>
      withSubject(harness, 'cut_stream', async ({ provider }) => {
        const seen: ModelEvent['type'][] = [];
        const read = async (): Promise<void> => {
          for await (const event of provider.stream(REQUEST, new AbortController().signal)) seen.push(event.type);
        };
        const error = await failureOf(read());
        assertProviderError(error);
        assert.equal(error.code, 'stream_incomplete');
        assert.ok(!seen.includes('response'), 'no response before the failure');
      }),
  },
  {
    id: 'llm-provider/abort-is-prompt',
    sentence: 'When `signal` fires, the iteration rejects promptly and the connection is closed.',
    run: (harness) =>
      withSubject(harness, 'never_ending', async ({ provider, connections }) => {
        const cancel = new AbortController();
        const pending = failureOf(collect(provider, cancel.signal));
        await delay(50);
        cancel.abort();
        const error = await within(pending, 'the iteration rejects');
        assert.ok(hasCode(error, 'cancelled'), `rejects with CancelledError, got ${String(error)}`);
        for (let waited = 0; (connections?.() ?? 0) > 0; waited += 20) {
          assert.ok(waited < PROMPT_MS, 'the connection is closed');
          await delay(20);
        }
      }),
  },
  {
    id: 'llm-provider/aborted-before',
    sentence: 'When `signal` has fired before, the iteration rejects too.',
    run: (harness) =>
      withSubject(harness, 'plain_text', async ({ provider }) => {
        const error = await within(failureOf(collect(provider, AbortSignal.abort())), 'the iteration rejects');
        assert.ok(hasCode(error, 'cancelled'), `rejects with CancelledError, got ${String(error)}`);
      }),
  },
  {
    id: 'llm-provider/no-retry',
    sentence: 'Nothing is retried here: `error.retryable` tells core whether a retry can help.',
    run: (harness) =>
      withSubject(harness, 'rate_limited', async ({ provider, requests }) => {
        await failureOf(collect(provider));
        if (requests !== undefined) assert.equal(requests(), 1);
      }),
  },
  {
    id: 'llm-provider/limits',
    sentence: '`limits` are positive whole numbers, or absent when unknown.',
    run: (harness) =>
      withSubject(harness, 'plain_text', async ({ provider }) => {
        const { contextWindow, maxOutputTokens } = provider.limits('a-model-that-nobody-knows');
        for (const tokens of [contextWindow, maxOutputTokens]) {
          assert.ok(tokens === undefined || (Number.isSafeInteger(tokens) && tokens > 0), `got ${tokens}`);
        }
        assert.ok(provider.name !== '', 'the provider has a name');
      }),
  },
  {
    id: 'llm-provider/models',
    sentence: '`models`, where there is one, lists each id once, with limits that are positive whole numbers or absent.',
    run: (harness) =>
      withSubject(harness, 'plain_text', async ({ provider }) => {
        const models = (await provider.models?.(new AbortController().signal)) ?? [];
        for (const { id, contextWindow, maxOutputTokens } of models) {
          assert.ok(typeof id === 'string' && id !== '', 'a model has an id');
          for (const tokens of [contextWindow, maxOutputTokens]) {
            assert.ok(tokens === undefined || (Number.isSafeInteger(tokens) && tokens > 0), `got ${tokens}`);
          }
        }
        assert.equal(new Set(models.map(({ id }) => id)).size, models.length, 'no id comes twice');
      }),
  },
  {
    id: 'llm-provider/close-twice',
    sentence: '`close` is idempotent.',
    run: (harness) =>
      withSubject(harness, 'plain_text', async ({ provider }) => {
        await collect(provider);
        await provider.close();
        await provider.close();
      }),
  },
];

export const llmProviderSuite: ContractSuite<LlmProviderHarness> = { port: 'llm-provider', cases };
