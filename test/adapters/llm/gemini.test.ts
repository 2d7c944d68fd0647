import { describe, expect, it } from 'vitest';
import gemini from '../../../adapters/llm/gemini.ts';
import type { ModelRequest } from '../../../ports/llm.ts';
import type { Message } from '../../../ports/message.ts';
import { type CannedReply, cannedClient, collect, providerOver, REQUEST, refusal } from './wire.ts';

const DONE: CannedReply = {
  chunks: [Buffer.from('{"candidates":[{"content":{"parts":[{"text":"ok"}]},"finishReason":"STOP"}]}')],
};

const BUFFERED: ModelRequest = { ...REQUEST, stream: false };

// biome-ignore lint/suspicious/noExplicitAny: a parse boundary that tests look into.
async function sent(request: Partial<ModelRequest>, options: object = {}): Promise<any> {
  const http = cannedClient(DONE);
  await collect(providerOver(gemini, http, { ...options }), { ...BUFFERED, ...request });
  return http.bodies[0];
}

const call = (id: string) => ({ id, name: 't', arguments: '{"a":1}' });
const result = (callId: string, outcome: 'completed' | 'failed' = 'completed'): Message => ({
  role: 'tool',
  callId,
  name: 't',
  content: 'r',
  outcome,
});
const asked: Message = { role: 'user', content: 'u' };

function signed(parts: readonly unknown[]): string {
  return JSON.stringify({ format: 'gemini', parts });
}

describe('a request in the Gemini format', () => {
  it('keeps the head apart and answers calls by their names in one turn', async () => {
    const messages: Message[] = [
      { role: 'system', content: 'base' },
      { role: 'system', content: 'memory' },
      { role: 'user', content: 'task' },
      { role: 'assistant', content: 'Looking.', toolCalls: [call('x'), call('y')] },
      result('x'),
      result('y', 'failed'),
      { role: 'system', content: 'hint' },
    ];
    const body = await sent({ messages, temperature: 0, maxTokens: 50 });
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: 'base' }, { text: 'memory' }] },
      contents: [
        { role: 'user', parts: [{ text: 'task' }] },
        {
          role: 'model',
          parts: [{ text: 'Looking.' }, { functionCall: { name: 't', args: { a: 1 } } }, { functionCall: { name: 't', args: { a: 1 } } }],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 't', response: { result: 'r' } } },
            { functionResponse: { name: 't', response: { error: 'r' } } },
            { text: '<system-note>\nhint\n</system-note>' },
          ],
        },
      ],
      generationConfig: { temperature: 0, maxOutputTokens: 50 },
    });
  });

  it('carries the key, and goes to the address of its model, streamed or not', async () => {
    const http = cannedClient(DONE);
    const provider = providerOver(gemini, http, { base_url: 'http://127.0.0.1:9', api_key: 'AIza0123456789' });
    await collect(provider, { ...BUFFERED, model: 'gemini-3-pro' });
    await collect(provider, { ...REQUEST, model: 'models/gemini-3-pro' });
    expect(http.requests.map(({ url }) => url)).toEqual([
      'http://127.0.0.1:9/v1beta/models/gemini-3-pro:generateContent',
      'http://127.0.0.1:9/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse',
    ]);
    expect(http.requests[0]?.headers['x-goog-api-key']).toBe('AIza0123456789');
  });

  it('gives signatures and ids back as they came, and thoughts not at all', async () => {
    const own: Message = {
      role: 'assistant',
      content: 'So.',
      reasoning: 'Hm.',
      reasoningSignature: signed([
        ['r', 3],
        ['t', 3, 'ST'],
        ['c', 0, 'SC'],
        ['c', 0],
      ]),
      origin: 'test',
      toolCalls: [call('fc_1'), call('it1-call1')],
    };
    const { contents } = await sent({ messages: [asked, own, result('fc_1'), result('it1-call1')] });
    expect(contents[1].parts).toEqual([
      { text: 'So.', thoughtSignature: 'ST' },
      { functionCall: { id: 'fc_1', name: 't', args: { a: 1 } }, thoughtSignature: 'SC' },
      { functionCall: { name: 't', args: { a: 1 } } },
    ]);
    expect(contents[2].parts.map((part: { functionResponse: { id?: string } }) => part.functionResponse.id)).toEqual(['fc_1', undefined]);
  });

  it.each([
    ['gemini-3-pro', 'skip_thought_signature_validator'],
    ['gemini-2.5-flash', undefined],
  ])('marks calls that another model made as such for %s', async (model, want) => {
    const foreign: Message = { role: 'assistant', content: '', toolCalls: [call('call_1'), call('call_2')] };
    const { contents } = await sent({ model, messages: [asked, foreign, result('call_1'), result('call_2')] });
    expect(contents[1].parts.map((part: { thoughtSignature?: string }) => part.thoughtSignature)).toEqual([want, undefined]);
    expect(JSON.stringify(contents)).not.toContain('call_1');
  });

  it.each([
    ['gemini-3-pro', 'high', { thinkingLevel: 'high', includeThoughts: true }],
    ['gemini-3-pro', 'disabled', { thinkingLevel: 'low' }],
    ['gemini-3-flash', 'disabled', { thinkingLevel: 'minimal' }],
    ['gemini-2.5-flash', 'low', { thinkingBudget: 1_024, includeThoughts: true }],
    ['gemini-2.5-flash', 'disabled', { thinkingBudget: 0 }],
    ['gemini-2.5-pro', 'disabled', { thinkingBudget: 128 }],
  ] as const)('asks %s for %s thinking as %j', async (model, thinking, want) => {
    expect((await sent({ model, thinking })).generationConfig).toEqual({ thinkingConfig: want });
  });
});

describe('what a model refuses once is not sent to it again', () => {
  it.each([
    [
      'a level of thinking',
      'Thinking level is not supported for this model: thinkingConfig',
      { thinking: 'low' as const },
      'thinkingConfig',
    ],
    ['a temperature', 'temperature must be 1', { temperature: 0 }, 'temperature'],
  ])('%s', async (_what, message, request, field) => {
    const http = cannedClient(refusal(400, { code: 400, message, status: 'INVALID_ARGUMENT' }), DONE);
    const provider = providerOver(gemini, http);
    await collect(provider, { ...BUFFERED, ...request });
    await collect(provider, { ...BUFFERED, ...request });
    expect(http.bodies.map((body) => JSON.stringify(body).includes(field))).toEqual([true, false, false]);
  });

  it('calls without a signature, which get a placeholder then', async () => {
    const foreign: Message = { role: 'assistant', content: '', toolCalls: [call('c')] };
    const message = 'Function call is missing a thought_signature in functionCall parts.';
    const http = cannedClient(refusal(400, { code: 400, message, status: 'INVALID_ARGUMENT' }), DONE);
    await collect(providerOver(gemini, http), { ...BUFFERED, messages: [asked, foreign, result('c')] });
    expect(http.bodies.map((body) => JSON.stringify(body).includes('skip_thought_signature_validator'))).toEqual([false, true]);
  });
});

describe('a refusal in the Gemini format', () => {
  const retry = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.5s' };
  const perDay = { '@type': 'x', violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }] };
  const quota = 'You exceeded your current quota, please check your plan and billing details.';
  it.each([
    ['a wrong key', 400, { message: 'API key not valid.', details: [{ reason: 'API_KEY_INVALID' }] }, { code: 'provider_auth' }],
    ['a limit of a minute', 429, { message: quota, details: [retry] }, { code: 'rate_limited', retryable: true, retryAfterMs: 34_500 }],
    ['a limit of a day', 429, { message: quota, details: [perDay, retry] }, { code: 'provider_quota', retryable: false }],
    ['no money', 429, { message: quota }, { code: 'provider_quota', retryable: false }],
    [
      'too many tokens',
      400,
      { message: 'The input token count (2) exceeds the maximum number of tokens allowed (1).' },
      { code: 'context_length' },
    ],
    ['an overload', 503, { message: 'The model is overloaded.' }, { code: 'provider_unavailable', retryable: true }],
    ['no such model', 404, { message: 'models/x is not found' }, { code: 'provider_request', retryable: false }],
  ])('because of %s has one meaning', async (_what, status, error, want) => {
    const names: Readonly<Record<number, string>> = { 429: 'RESOURCE_EXHAUSTED', 400: 'INVALID_ARGUMENT' };
    const http = cannedClient(refusal(status, { code: status, status: names[status] ?? 'UNAVAILABLE', ...error }));
    await expect(collect(providerOver(gemini, http))).rejects.toMatchObject({ name: 'ProviderError', ...want });
  });
});
