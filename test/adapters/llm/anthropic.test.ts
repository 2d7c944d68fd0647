import { describe, expect, it } from 'vitest';
import anthropic from '../../../adapters/llm/anthropic.ts';
import type { ModelRequest, ProviderError } from '../../../ports/llm.ts';
import type { AssistantMessage, Message } from '../../../ports/message.ts';
import { type CannedClient, type CannedReply, cannedClient, collect, providerOver, REQUEST, refusal, respond } from './wire.ts';

const DONE: CannedReply = {
  chunks: [Buffer.from('{"type":"message","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn"}')],
};

const BUFFERED: ModelRequest = { ...REQUEST, stream: false };

/** What is sent for `request`. */
// biome-ignore lint/suspicious/noExplicitAny: a parse boundary that tests look into.
async function sent(request: Partial<ModelRequest>, options: object = {}): Promise<any> {
  const http = cannedClient(DONE);
  await collect(providerOver(anthropic, http, { ...options }), { ...BUFFERED, ...request });
  return http.bodies[0];
}

function signed(parts: readonly unknown[]): string {
  return JSON.stringify({ format: 'anthropic', parts });
}

const call = (id: string) => ({ id, name: 't', arguments: '{"a":1}' });
const result = (callId: string, outcome: 'completed' | 'failed' = 'completed'): Message => ({
  role: 'tool',
  callId,
  name: 't',
  content: 'r',
  outcome,
});

describe('a request in the Anthropic format', () => {
  it('keeps the head apart, joins results into one turn of the user, and puts notes behind them', async () => {
    const messages: Message[] = [
      { role: 'system', content: 'base' },
      { role: 'system', content: 'memory' },
      { role: 'user', content: 'task' },
      { role: 'system', content: 'plan' },
      { role: 'assistant', content: 'Looking.', toolCalls: [call('toolu_a'), call('toolu_b')] },
      { role: 'system', content: 'hint' },
      result('toolu_a'),
      result('toolu_b', 'failed'),
    ];
    const body = await sent({ messages }, { prompt_caching: false });
    expect(body.system).toEqual([
      { type: 'text', text: 'base' },
      { type: 'text', text: 'memory' },
    ]);
    expect(body.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'task' },
          { type: 'text', text: '<system-note>\nplan\n</system-note>' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Looking.' },
          { type: 'tool_use', id: 'toolu_a', name: 't', input: { a: 1 } },
          { type: 'tool_use', id: 'toolu_b', name: 't', input: { a: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_a', content: 'r' },
          { type: 'tool_result', tool_use_id: 'toolu_b', content: 'r', is_error: true },
          { type: 'text', text: '<system-note>\nhint\n</system-note>' },
        ],
      },
    ]);
  });

  it('begins and ends with the user, sends no blank text, and repairs arguments that were cut', async () => {
    const messages: Message[] = [
      { role: 'assistant', content: ' ', toolCalls: [{ id: 'a', name: 't', arguments: '{"cut' }] },
      result('a'),
      { role: 'user', content: '' },
      { role: 'assistant', content: 'Done.' },
    ];
    expect((await sent({ messages })).messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: '(The beginning was left out.)' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 't', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'r' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
      { role: 'user', content: [{ type: 'text', text: 'Go on.' }] },
    ]);
  });

  it('carries key and version, to /v1/messages whether the address ends in /v1 or not', async () => {
    for (const base_url of ['http://127.0.0.1:9', 'http://127.0.0.1:9/v1']) {
      const http = cannedClient(DONE);
      await collect(providerOver(anthropic, http, { base_url, api_key: 'sk-ant-0123456789' }), BUFFERED);
      expect(http.requests[0]).toMatchObject({
        url: 'http://127.0.0.1:9/v1/messages',
        headers: { 'x-api-key': 'sk-ant-0123456789', 'anthropic-version': '2023-06-01' },
      });
    }
  });

  it.each([
    ['claude-sonnet-4-5', undefined, 64_000],
    ['claude-3-5-haiku-latest', undefined, 8_192],
    ['unheard-of', undefined, 8_192],
    ['claude-sonnet-4-5', 100, 100],
  ])('asks %s with a limit of %s for %s tokens', async (model, maxTokens, want) => {
    expect((await sent({ model, ...(maxTokens === undefined ? {} : { maxTokens }) })).max_tokens).toBe(want);
  });
});

describe('cache markers', () => {
  const marked = { type: 'ephemeral' };
  const messages: Message[] = [
    { role: 'system', content: 'base' },
    { role: 'system', content: 'memory' },
    { role: 'system', content: 'more' },
    { role: 'user', content: 'task' },
    { role: 'assistant', content: 'a' },
    { role: 'user', content: 'next' },
  ];
  const tools = ['a', 'b'].map((name) => ({ name, description: name, parameters: {} }));

  it('stand at the base prompt, the memory, the first task and the last tool', async () => {
    const body = await sent({ messages, tools });
    const marks = (list: { cache_control?: object }[]): unknown[] => list.map((block) => block.cache_control);
    expect(marks(body.system)).toEqual([marked, marked, undefined]);
    expect(body.messages.flatMap(({ content }: { content: [] }) => marks(content))).toEqual([marked, undefined, undefined]);
    expect(marks(body.tools)).toEqual([undefined, marked]);
    expect(tools.every((tool) => !('cache_control' in tool))).toBe(true);
  });

  it('are not sent where caching is off', async () => {
    expect(JSON.stringify(await sent({ messages, tools }, { prompt_caching: false }))).not.toContain('cache_control');
  });

  it('leave the beginning of a growing conversation as it is, byte for byte', async () => {
    const http = cannedClient(DONE);
    const provider = providerOver(anthropic, http);
    let grown: Message[] = messages;
    for (let turn = 0; turn < 50; turn += 1) {
      await collect(provider, { ...BUFFERED, messages: grown, tools });
      grown = [...grown, { role: 'assistant', content: '', toolCalls: [call(`c${turn}`)] }, result(`c${turn}`)];
    }
    const texts = http.requests.map(({ body }) => Buffer.concat(body as Uint8Array[]).toString('utf8'));
    const turns = texts.map((text) => text.slice(0, text.indexOf('],"system"')));
    for (const [at, text] of turns.entries()) {
      const before = turns[at - 1];
      // The last turn was closed by the end of the list; what stands before it must not move.
      if (before !== undefined) expect(text.startsWith(before.slice(0, -2))).toBe(true);
    }
    const heads = texts.map((text) => text.slice(text.indexOf('"system"')));
    expect(new Set(heads).size).toBe(1);
  });
});

describe('thinking', () => {
  it.each([
    ['claude-sonnet-4-5', 'medium', undefined, { thinking: { type: 'enabled', budget_tokens: 5_000 }, temperature: 1 }],
    ['claude-sonnet-4-5', 'disabled', undefined, { thinking: { type: 'disabled' }, temperature: 0 }],
    ['claude-sonnet-4-5', undefined, undefined, { temperature: 0 }],
    ['claude-sonnet-4-5', 'low', 3_000, { thinking: { type: 'enabled', budget_tokens: 1_976 }, temperature: 1 }],
    ['claude-sonnet-4-5', 'low', 2_000, { temperature: 0 }],
    ['claude-opus-4-6', 'high', undefined, { thinking: { type: 'enabled', budget_tokens: 5_000 }, temperature: 1 }],
    ['claude-opus-4-7', 'high', undefined, { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } }],
    ['claude-sonnet-5', 'disabled', undefined, {}],
    ['claude-opus-4-20250514', 'low', undefined, { thinking: { type: 'enabled', budget_tokens: 5_000 }, temperature: 1 }],
  ] as const)('of %s at %s (at most %s tokens) is asked for as %j', async (model, thinking, maxTokens, want) => {
    const request = { model, temperature: 0, ...(thinking && { thinking }), ...(maxTokens && { maxTokens }) };
    const { thinking: object, temperature, output_config } = await sent(request);
    const got = {
      ...(object && { thinking: object }),
      ...(temperature !== undefined && { temperature }),
      ...(output_config && { output_config }),
    };
    expect(got).toEqual(want);
  });

  it('takes the budget that the operator sets', async () => {
    expect((await sent({ thinking: 'low' }, { thinking_budget: 2_048 })).thinking).toEqual({ type: 'enabled', budget_tokens: 2_048 });
  });

  const own: AssistantMessage = {
    role: 'assistant',
    content: 'So.',
    reasoning: 'OneTwo',
    reasoningSignature: signed([
      ['r', 3, 'S1'],
      ['h', 0, 'D1'],
      ['r', 3, 'S2'],
      ['t', 3],
      ['c', 0],
    ]),
    origin: 'test',
    toolCalls: [call('toolu_a')],
  };
  const asked: Message = { role: 'user', content: 'u' };

  it('comes back with its signatures, in the order in which it was made', async () => {
    const body = await sent({ messages: [asked, own, result('toolu_a')], thinking: 'low' });
    expect(body.messages[1].content).toEqual([
      { type: 'thinking', thinking: 'One', signature: 'S1' },
      { type: 'redacted_thinking', data: 'D1' },
      { type: 'thinking', thinking: 'Two', signature: 'S2' },
      { type: 'text', text: 'So.' },
      { type: 'tool_use', id: 'toolu_a', name: 't', input: { a: 1 } },
    ]);
    expect(body.thinking).toEqual({ type: 'enabled', budget_tokens: 5_000 });
  });

  it('goes first where a secret was masked in the text', async () => {
    const masked = { ...own, content: 'So, [redacted].' };
    const body = await sent({ messages: [asked, masked, result('toolu_a')] });
    expect(body.messages[1].content.map(({ type }: { type: string }) => type)).toEqual([
      'thinking',
      'redacted_thinking',
      'thinking',
      'text',
      'tool_use',
    ]);
  });

  it.each([
    ['was made by somebody else', { ...own, origin: 'another' }],
    ['has lost its signature', { role: 'assistant', content: 'So.', reasoning: 'OneTwo', origin: 'test', toolCalls: own.toolCalls }],
    ['does not fit its signature', { ...own, reasoning: 'Masked' + 'away' }],
    ['is signed in another format', { ...own, reasoningSignature: signed([]).replace('anthropic', 'gemini') }],
    ['is signed with nonsense', { ...own, reasoningSignature: 'nonsense' }],
    ['is signed with half a list', { ...own, reasoningSignature: signed([['x', -1]]) }],
  ] as const)('is not sent back when it %s, and is not asked for while that call is answered', async (_why, message) => {
    const body = await sent({ messages: [asked, message as AssistantMessage, result('toolu_a')], thinking: 'low', temperature: 0 });
    expect(body.messages[1].content.map(({ type }: { type: string }) => type)).toEqual(['text', 'tool_use']);
    expect(body.thinking).toBeUndefined();
    expect(body.temperature).toBe(0);
    const later = await sent({
      messages: [asked, message as AssistantMessage, result('toolu_a'), { role: 'user', content: 'next' }],
      thinking: 'low',
    });
    expect(later.thinking).toBeDefined();
  });
});

describe('what a model refuses once is not sent to it again', () => {
  const learn = async (text: string, request: Partial<ModelRequest>): Promise<CannedClient> => {
    const http = cannedClient(refusal(400, { type: 'invalid_request_error', message: text }), DONE);
    const provider = providerOver(anthropic, http);
    const events = await collect(provider, { ...BUFFERED, ...request });
    expect(events.map(({ type }) => type)).toContain('notice');
    const again = await collect(provider, { ...BUFFERED, ...request });
    expect(again.map(({ type }) => type)).not.toContain('notice');
    return http;
  };

  it('a budget for thinking, in favour of an effort', async () => {
    const text = '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort".';
    const http = await learn(text, { thinking: 'high' });
    expect(http.bodies.map(({ thinking }) => thinking.type)).toEqual(['enabled', 'adaptive', 'adaptive']);
  });

  it('an effort, in favour of a budget', async () => {
    const http = await learn('adaptive thinking is not supported on this model', { thinking: 'high', model: 'claude-opus-4-7' });
    expect(http.bodies.map(({ thinking }) => thinking.type)).toEqual(['adaptive', 'enabled', 'enabled']);
  });

  it('the wish for no thinking', async () => {
    const http = await learn('"thinking.type.disabled" is not supported for this model.', { thinking: 'disabled' });
    expect(http.bodies.map(({ thinking }) => thinking)).toEqual([{ type: 'disabled' }, undefined, undefined]);
  });

  it('a temperature', async () => {
    const http = await learn('`temperature` is not supported for this model', { temperature: 0 });
    expect(http.bodies.map(({ temperature }) => temperature)).toEqual([0, undefined, undefined]);
  });

  it('a longer answer than it gives', async () => {
    const text = 'max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for m';
    const http = await learn(text, { maxTokens: 64_000 });
    expect(http.bodies.map(({ max_tokens }) => max_tokens)).toEqual([64_000, 8_192, 8_192]);
  });

  it('cache markers', async () => {
    const http = await learn('cache_control: Extra inputs are not permitted', {});
    expect(http.bodies.map((body) => JSON.stringify(body).includes('cache_control'))).toEqual([true, false, false]);
  });

  it('thinking that it does not recognise', async () => {
    const own: Message = {
      role: 'assistant',
      content: '',
      reasoning: 'Hm.',
      reasoningSignature: signed([
        ['r', 3, 'S'],
        ['c', 0],
      ]),
      toolCalls: [call('a')],
    };
    const messages: Message[] = [{ role: 'user', content: 'u' }, own, result('a')];
    const http = await learn('messages.1.content.0: Invalid `signature` in `thinking` block', { messages, thinking: 'low' });
    expect(http.bodies.map((body) => JSON.stringify(body.messages).includes('"thinking"'))).toEqual([true, false, false]);
    expect(http.bodies.map(({ thinking }) => thinking?.type)).toEqual(['enabled', undefined, undefined]);
  });

  it('but another model is asked as before', async () => {
    const http = cannedClient(refusal(400, { message: 'temperature is not supported' }), DONE);
    const provider = providerOver(anthropic, http);
    await collect(provider, { ...BUFFERED, temperature: 0 });
    await collect(provider, { ...BUFFERED, temperature: 0, model: 'another' });
    expect(http.bodies.map(({ temperature }) => temperature)).toEqual([0, undefined, 0]);
  });
});

describe('a refusal in the Anthropic format', () => {
  it.each([
    [401, 'authentication_error', 'invalid x-api-key', { code: 'provider_auth', retryable: false }],
    [403, 'permission_error', 'no', { code: 'provider_auth', retryable: false }],
    [404, 'not_found_error', 'model: x', { code: 'provider_request', retryable: false }],
    [413, 'request_too_large', 'Request exceeds the maximum size', { code: 'context_length', retryable: false }],
    [400, 'invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum', { code: 'context_length', retryable: false }],
    [400, 'invalid_request_error', 'input length and `max_tokens` exceed context limit: 190000 + 20000', { code: 'context_length' }],
    [400, 'invalid_request_error', 'Your credit balance is too low', { code: 'provider_quota', retryable: false }],
    [402, 'billing_error', 'pay', { code: 'provider_quota', retryable: false }],
    [429, 'rate_limit_error', 'slow down', { code: 'rate_limited', retryable: true }],
    [500, 'api_error', 'oops', { code: 'provider_unavailable', retryable: true }],
    [529, 'overloaded_error', 'Overloaded', { code: 'provider_unavailable', retryable: true }],
  ])('of %s (%s: %s) is %j', async (status, type, message, want) => {
    const http = cannedClient(refusal(status, { type, message }));
    await expect(collect(providerOver(anthropic, http))).rejects.toMatchObject({ name: 'ProviderError', ...want });
  });

  it('shows no key', async () => {
    const key = 'sk-ant-api03-0123456789abcdef';
    const http = cannedClient(refusal(401, { message: `bad key ${key}` }));
    const error = await respond(providerOver(anthropic, http, { api_key: key })).catch((caught: ProviderError) => caught);
    expect(String((error as ProviderError).message)).not.toContain('0123456789');
  });
});

describe('the options of the Anthropic format', () => {
  it.each([
    [{ thinking_budget: 100 }, 'thinking_budget'],
    [{ prompt_caching: 'yes' }, 'prompt_caching'],
    [{ dialect: 'openai' }, 'dialect'],
    [{ format: 'openai' }, 'format'],
  ])('%j are refused naming %s', (options, key) => {
    const create = (): unknown => providerOver(anthropic, cannedClient(DONE), options);
    expect(create).toThrow(expect.objectContaining({ name: 'ConfigError', message: expect.stringContaining(`"${key}"`) }));
  });
});
