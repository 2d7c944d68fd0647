import { describe, expect, it } from 'vitest';
import { createHttpClient, hostPort } from '../../../adapters/http/index.ts';
import { HttpError } from '../../../ports/http.ts';
import type { ModelRequest, ProviderError } from '../../../ports/llm.ts';
import type { AssistantMessage, Message } from '../../../ports/message.ts';
import { startOpenAiServer } from '../../fakes/openai-server.ts';
import { answer, type CannedReply, cannedClient, collect, openaiOver, REQUEST, refusal, respond } from './wire.ts';

const KEY = 'sk-test-0123456789abcdef';

async function failure(reply: CannedReply, options: Readonly<Record<string, unknown>> = {}): Promise<ProviderError> {
  const provider = openaiOver(cannedClient(reply), options);
  return collect(provider).then(
    () => {
      throw new Error('expected a failure');
    },
    (error: ProviderError) => error,
  );
}

describe('a refusal of the service', () => {
  it.each([
    ['401', refusal(401, { message: 'bad key' }), { code: 'provider_auth', retryable: false, status: 401 }],
    ['403', refusal(403, { message: 'no' }), { code: 'provider_auth', retryable: false, status: 403 }],
    ['402', refusal(402, { message: 'Insufficient Balance' }), { code: 'provider_quota', retryable: false }],
    ['404', refusal(404, { message: 'The model m does not exist' }), { code: 'provider_request', retryable: false }],
    ['a plain 400', refusal(400, { message: 'bad message order' }), { code: 'provider_request', retryable: false }],
    ['429', refusal(429, { message: 'slow down' }), { code: 'rate_limited', retryable: true, retryAfterMs: undefined }],
    [
      '429 for a used-up quota',
      refusal(429, { message: 'Over', code: 'insufficient_quota' }),
      { code: 'provider_quota', retryable: false },
    ],
    ['429 with the code 1113', refusal(429, { message: 'No money', code: '1113' }), { code: 'provider_quota', retryable: false }],
    ['429 for the balance', refusal(429, 'Insufficient balance'), { code: 'provider_quota', retryable: false }],
    ['408', refusal(408, {}), { code: 'provider_unavailable', retryable: true }],
    ['500', refusal(500, { message: 'oops' }), { code: 'provider_unavailable', retryable: true }],
    ['501', refusal(501, { message: 'oops' }), { code: 'provider_request', retryable: false }],
    ['502 with a page', refusal(502, '<html><b>Bad gateway</b></html>'), { code: 'provider_unavailable', retryable: true }],
    ['503', refusal(503, ''), { code: 'provider_unavailable', retryable: true }],
    ['529', refusal(529, { message: 'overloaded' }), { code: 'provider_unavailable', retryable: true }],
    ['a redirect', refusal(301, '', { location: 'http://elsewhere/' }), { code: 'provider_config', retryable: false }],
    ['an error as text', refusal(400, '{"error":"nope"}'), { code: 'provider_request' }],
    ['an error as detail', refusal(422, '{"detail":"nope"}'), { code: 'provider_request' }],
    ['an error in a list', refusal(400, '[{"error":{"message":"nope"}}]'), { code: 'provider_request' }],
  ])('of %s has one meaning', async (_name, reply, want) => {
    expect(await failure(reply)).toMatchObject({ name: 'ProviderError', ...want });
  });

  it.each([
    'context_length_exceeded',
    'maximum context length is 8192',
    'exceeds the context length',
    'over the token limit',
    'larger than the context window',
    'max_input_tokens',
    'input length too great',
    'too many tokens',
    'input is too long',
    'please reduce the length',
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    'Prompt exceeds max length',
    'prompt token count of 130000 exceeds the limit of 128000',
  ])('that says "%s" is a context-length error', async (text) => {
    expect(await failure(refusal(400, { message: text }))).toMatchObject({ code: 'context_length', retryable: false });
  });

  it("with Z.ai's number for it is a context-length error", async () => {
    expect(await failure(refusal(400, { message: 'The prompt does not fit', code: '1261' }))).toMatchObject({ code: 'context_length' });
  });

  it('that a service passes on is told in the words of the one that failed', async () => {
    const passedOn = (raw: string): Promise<ProviderError> =>
      failure(refusal(400, { message: 'Provider returned error', code: 400, metadata: { raw, provider_name: 'X' } }));
    const tooLong = JSON.stringify({ error: { message: "This model's maximum context length is 8192 tokens." } });
    expect(await passedOn(tooLong)).toMatchObject({ code: 'context_length' });
    expect((await passedOn('no such tool')).message).toContain('Provider returned error: no such tool');
  });

  it('keeps its meaning with a placeholder for a key', async () => {
    const error = await failure(refusal(400, { message: 'The token limit is passed' }), { api_key: 'token' });
    expect(error).toMatchObject({ code: 'context_length', message: expect.stringContaining('The token limit is passed') });
  });

  it('tells the wait that the service asks for, in seconds, as a date or in milliseconds', async () => {
    const wait = async (headers: Record<string, string>): Promise<number | undefined> =>
      (await failure(refusal(429, {}, headers))).retryAfterMs;
    expect(await wait({ 'retry-after': '7' })).toBe(7000);
    expect(await wait({ 'retry-after': '0.5' })).toBe(500);
    expect(await wait({ 'retry-after-ms': '250' })).toBe(250);
    expect(await wait({ 'retry-after': 'soon' })).toBeUndefined();
    const date = await wait({ 'retry-after': new Date(Date.now() + 20_000).toUTCString() });
    expect(date).toBeGreaterThan(15_000);
    expect(date).toBeLessThanOrEqual(20_000);
    expect(await wait({ 'retry-after': new Date(Date.now() - 20_000).toUTCString() })).toBe(0);
  });

  it('never shows a key, whole or masked', async () => {
    const error = await failure(refusal(401, { message: `Incorrect API key provided: ${KEY} (sk-test-****cdef)` }), { api_key: KEY });
    expect(`${error.message} ${JSON.stringify(error)}`).not.toMatch(/0123456789|\*\*\*cdef/);
    expect(error.message).toContain('[key]');
  });

  it('for a missing key names the ways to set one', async () => {
    const error = await failure(refusal(401, {}), { id: 'deepseek' });
    expect(error.message).toContain('DEEPSEEK_API_KEY');
    expect(error.message).toContain('providers.deepseek.api_key');
  });

  it('with a body that never ends or is very long is read in part', async () => {
    const endless = await startOpenAiServer(() => ({ status: 500, raw: 'x'.repeat(300_000) }));
    const http = createHttpClient({ mode: 'operator', allowHosts: [hostPort(new URL(endless.url))] });
    const error = await collect(openaiOver(http, { base_url: endless.url })).catch((caught: ProviderError) => caught);
    expect(error).toMatchObject({ code: 'provider_unavailable' });
    expect((error as ProviderError).message.length).toBeLessThan(700);
    await http.close();
    await endless.close();
  });
});

describe('a request that gets no reply', () => {
  it.each([
    ['connection_refused', 'network', true],
    ['connection_reset', 'network', true],
    ['headers_timeout', 'network', true],
    ['dns_failure', 'network', false],
    ['tls_failure', 'network', false],
    ['host_refused', 'provider_config', false],
  ] as const)('because of %s is %s', async (httpCode, code, retryable) => {
    const http = {
      request: async () => {
        throw new HttpError(httpCode, 'no');
      },
      close: async () => undefined,
    };
    await expect(collect(openaiOver(http))).rejects.toMatchObject({ name: 'ProviderError', code, retryable });
  });
});

describe('what a service refuses once is not sent again', () => {
  it('drops stream_options, says so, and remembers it', async () => {
    const http = cannedClient(refusal(400, { message: "Unknown parameter: 'stream_options'" }), answer());
    const provider = openaiOver(http);
    expect((await collect(provider)).map(({ type }) => type)).toEqual(['notice', 'text_delta', 'response']);
    expect((await collect(provider)).map(({ type }) => type)).toEqual(['text_delta', 'response']);
    expect(http.bodies.map((body) => [body.stream, body.stream_options])).toEqual([
      [true, { include_usage: true }],
      [true, undefined],
      [true, undefined],
    ]);
  });

  it('switches to one buffered answer when streaming is refused', async () => {
    const http = cannedClient(refusal(400, { message: 'stream=true is not supported by this model' }), answer());
    const provider = openaiOver(http);
    await collect(provider);
    await collect(provider);
    expect(http.bodies.map((body) => body.stream)).toEqual([true, undefined, undefined]);
  });

  it('switches to one buffered answer when JSON comes in place of a stream', async () => {
    const whole = { chunks: [Buffer.from('{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}')] };
    const http = cannedClient(whole);
    const provider = openaiOver(http);
    expect((await collect(provider)).map(({ type }) => type)).toEqual(['notice', 'text_delta', 'response']);
    expect((await collect(provider)).map(({ type }) => type)).toEqual(['text_delta', 'response']);
    expect(http.bodies.map((body) => body.stream)).toEqual([true, undefined]);
  });

  it('drops include_reasoning, the temperature, and the name of the output limit', async () => {
    const request: ModelRequest = { ...REQUEST, temperature: 0, maxTokens: 100 };
    const http = cannedClient(
      refusal(400, { message: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." }),
      refusal(400, { message: "Unsupported value: 'temperature' does not support 0 with this model." }),
      refusal(422, { detail: 'extra field: include_reasoning' }),
      answer(),
    );
    await collect(openaiOver(http), request);
    expect(http.bodies.at(0)).toMatchObject({ max_tokens: 100, temperature: 0, include_reasoning: true });
    expect(http.bodies.at(-1)).toMatchObject({ max_completion_tokens: 100 });
    expect(Object.keys(http.bodies.at(-1))).toEqual(['model', 'messages', 'stream', 'stream_options', 'max_completion_tokens']);
  });

  it('gives up when the same refusal comes again', async () => {
    const http = cannedClient(refusal(400, { message: 'stream_options is unknown' }));
    await expect(collect(openaiOver(http))).rejects.toMatchObject({ code: 'provider_request' });
    expect(http.requests.length).toBe(2);
  });
});

describe('earlier reasoning', () => {
  const called: AssistantMessage = {
    role: 'assistant',
    content: '',
    reasoning: 'because',
    toolCalls: [{ id: 'c1', name: 't', arguments: '{}' }],
  };
  const spoken: AssistantMessage = { role: 'assistant', content: 'so', reasoning: 'thus' };
  const result: Message = { role: 'tool', callId: 'c1', name: 't', content: 'r', outcome: 'completed' };
  const request: ModelRequest = {
    ...REQUEST,
    messages: [{ role: 'user', content: 'u' }, called, result, spoken, { role: 'user', content: 'v' }],
  };
  const sent = (body: { messages: { reasoning_content?: string }[] }): (string | undefined)[] =>
    body.messages.map((message) => message.reasoning_content);

  it.each([
    ['on_tool_calls', [undefined, 'because', undefined, undefined, undefined]],
    ['always', [undefined, 'because', undefined, 'thus', undefined]],
    ['never', [undefined, undefined, undefined, undefined, undefined]],
  ] as const)('is sent back by the rule %s', async (rule, want) => {
    const http = cannedClient(answer());
    await collect(openaiOver(http, { reasoning_replay: rule }), request);
    expect(sent(http.bodies[0])).toEqual(want);
  });

  it('and the wish for it are not sent to a gateway that takes neither', async () => {
    const http = cannedClient(answer());
    await collect(openaiOver(http, { include_reasoning: false }), request);
    expect(http.bodies[0].include_reasoning).toBeUndefined();
    expect(sent(http.bodies[0])).toEqual([undefined, undefined, undefined, undefined, undefined]);
  });

  it('is sent after all when the service misses it', async () => {
    const http = cannedClient(
      refusal(400, { message: 'The reasoning_content in the thinking mode must be passed back to the API.' }),
      answer(),
    );
    const provider = openaiOver(http, { reasoning_replay: 'never' });
    await collect(provider, request);
    await collect(provider, request);
    expect(http.bodies.map(sent).map((reasoning) => reasoning[1])).toEqual([undefined, 'because', 'because']);
  });

  it('is left out when the service refuses it', async () => {
    const http = cannedClient(refusal(400, { message: "property 'messages.1.assistant.reasoning_content' is unsupported" }), answer());
    await collect(openaiOver(http), request);
    expect(http.bodies.map(sent).map((reasoning) => reasoning[1])).toEqual(['because', undefined]);
  });

  it('is given up on when the service refuses both rules', async () => {
    const http = cannedClient(refusal(400, { message: 'reasoning_content is wrong' }));
    await expect(collect(openaiOver(http), request)).rejects.toMatchObject({ code: 'provider_request' });
    expect(http.bodies.map(sent).map((reasoning) => reasoning[1])).toEqual(['because', undefined]);
  });

  it('is filled in where a history has none and the service misses it', async () => {
    const { reasoning: _, ...bare } = called;
    const http = cannedClient(
      refusal(400, { message: 'reasoning_content is missing in assistant tool call message at index 1' }),
      answer(),
    );
    await collect(openaiOver(http), { ...request, messages: [{ role: 'user', content: 'u' }, bare, result] });
    expect(http.bodies.map(sent).map((reasoning) => reasoning[1])).toEqual([undefined, '']);
  });
});

describe('the request body', () => {
  it('copies only what is new of a conversation that grows', async () => {
    const http = cannedClient(answer());
    const provider = openaiOver(http);
    const tools = [{ name: 't', description: 'd', parameters: { type: 'object' } }];
    const messages: Message[] = [
      { role: 'system', content: 's'.repeat(1000) },
      { role: 'user', content: 'u' },
    ];
    await collect(provider, { ...REQUEST, messages, tools });
    await collect(provider, { ...REQUEST, messages: [...messages, { role: 'assistant', content: 'a' }], tools });
    const [first, second] = http.requests.map(({ body }) => body as Uint8Array[]);
    expect(second?.[3]).toBe(first?.[3]);
    expect(second?.[1]?.buffer).toBe(first?.[1]?.buffer);
    expect(second?.[1]?.byteOffset).toBe(first?.[1]?.byteOffset);
    expect(second?.[1]?.byteLength).toBeGreaterThan(first?.[1]?.byteLength ?? Number.NaN);
  });

  it('leaves an earlier request as it was, whatever the later ones are', async () => {
    const http = cannedClient(answer());
    const provider = openaiOver(http);
    const user = (content: string): Message => ({ role: 'user', content });
    const [one, two] = [user('1'.repeat(500)), user('two')];
    const conversations = [
      [one, two],
      [one, two, user('three')],
      [one, user('other')],
      [one],
      [two, one],
      [one, two, user('four')],
      [one, two, user('four'), two],
    ];
    for (const messages of conversations) await collect(provider, { ...REQUEST, messages });
    const told = http.requests.map(
      ({ body }) => (JSON.parse(Buffer.concat(body as Uint8Array[]).toString()) as { messages: object[] }).messages,
    );
    expect(told).toEqual(conversations);
  });

  it('has the earlier request as its prefix up to what is new', async () => {
    const http = cannedClient(answer());
    const provider = openaiOver(http);
    const messages: Message[] = [
      { role: 'system', content: 's' },
      { role: 'user', content: 'ü' },
    ];
    await collect(provider, { ...REQUEST, messages });
    await collect(provider, { ...REQUEST, messages: [...messages, { role: 'assistant', content: 'a' }] });
    const [first, second] = http.requests.map(({ body }) => Buffer.concat(body as Uint8Array[]).toString());
    const end = first?.indexOf(']') ?? -1;
    expect(end).toBeGreaterThan(0);
    expect(second?.slice(0, end)).toBe(first?.slice(0, end));
  });

  it('writes calls, results and odd arguments so that a service can read them', async () => {
    const http = cannedClient(answer());
    const messages: Message[] = [
      { role: 'user', content: '\ud83d lone' },
      {
        role: 'assistant',
        content: '',
        toolCalls: [
          { id: 'c1', name: 't', arguments: '{"a":1}' },
          { id: 'c2', name: 't', arguments: '{"cut' },
        ],
      },
      { role: 'tool', callId: 'c1', name: 't', content: 'r', outcome: 'completed' },
    ];
    await collect(openaiOver(http, { api_key: KEY }), { ...REQUEST, messages });
    expect(http.bodies[0].messages.slice(1)).toEqual([
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 't', arguments: '{"a":1}' } },
          { id: 'c2', type: 'function', function: { name: 't', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'r' },
    ]);
    expect(http.requests[0]?.headers).toMatchObject({ authorization: `Bearer ${KEY}`, accept: 'text/event-stream' });
    expect(http.requests[0]?.url).toBe('http://127.0.0.1:9/v1/chat/completions');
  });

  it.each([
    ['generic', 'm', 'high', { reasoning_effort: 'high' }],
    ['openai', 'm', 'disabled', { reasoning_effort: 'none' }],
    ['zai', 'glm-5.2', 'medium', { thinking: { type: 'enabled' }, reasoning_effort: 'high' }],
    ['zai', 'glm-5.2', 'disabled', { thinking: { type: 'disabled' } }],
    ['zai', 'glm-5.3', 'disabled', { thinking: { type: 'enabled' }, reasoning_effort: 'low' }],
    ['kimi', 'k3', 'low', { thinking: { type: 'enabled' } }],
  ] as const)('asks the dialect %s (%s) for %s thinking in its own words', async (dialect, model, thinking, want) => {
    const http = cannedClient(answer());
    await collect(openaiOver(http, { dialect }), { ...REQUEST, model, thinking });
    const { thinking: object, reasoning_effort: effort } = http.bodies[0];
    expect({ ...(object && { thinking: object }), ...(effort && { reasoning_effort: effort }) }).toEqual(want);
  });

  it('sends an explicit temperature of 0, and none when there is none', async () => {
    const http = cannedClient(answer());
    const provider = openaiOver(http);
    await collect(provider, { ...REQUEST, temperature: 0 });
    await collect(provider, REQUEST);
    expect(http.bodies.map((body) => body.temperature)).toEqual([0, undefined]);
  });

  it('asks for one buffered answer when the caller does not stream, and is not told that it learned something', async () => {
    const http = cannedClient({ chunks: [Buffer.from('{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}')] });
    const events = await collect(openaiOver(http), { ...REQUEST, stream: false });
    expect(events.map(({ type }) => type)).toEqual(['text_delta', 'response']);
    expect(http.bodies[0].stream).toBeUndefined();
  });

  it('sends a model under the name that the service knows', async () => {
    const http = cannedClient(answer());
    await collect(openaiOver(http, { id: 'deepseek' }), { ...REQUEST, model: 'deepseek-pro' });
    expect(http.bodies[0].model).toBe('deepseek-v4-pro');
  });
});

describe('a reply', () => {
  it('without a finish reason before [DONE] is complete only where the operator says so', async () => {
    const reply = { chunks: [Buffer.from('data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n')] };
    await expect(respond(openaiOver(cannedClient(reply)))).rejects.toMatchObject({ code: 'stream_incomplete', retryable: true });
    const lenient = await respond(openaiOver(cannedClient(reply), { done_without_finish: true }));
    expect(lenient).toMatchObject({ finish: 'stop', message: { content: 'Hi' } });
  });

  it('gives synthetic ids that no earlier call of the conversation has', async () => {
    const call = { function: { name: 't', arguments: '{}' } };
    const reply = {
      chunks: [Buffer.from(`data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] })}\n\n`)],
    };
    const taken: Message = { role: 'assistant', content: '', toolCalls: [{ id: 'it2-call0', name: 't', arguments: '{}' }] };
    const got = await respond(openaiOver(cannedClient(reply)), { ...REQUEST, messages: [{ role: 'user', content: 'u' }, taken] });
    expect(got.message.toolCalls?.map(({ id }) => id)).toEqual(['it3-call0']);
  });

  it('longer than the limit is refused', async () => {
    const reply = { chunks: [Buffer.from('data: '), ...Array.from({ length: 20 }, () => Buffer.alloc(100, 'x'))] };
    await expect(respond(openaiOver(cannedClient(reply), { max_response_bytes: 1024 }))).rejects.toMatchObject({
      code: 'response_too_large',
      limit: 1024,
      retryable: false,
    });
  });

  it('of 50 MB in one line and small pieces is refused in linear time', async () => {
    const piece = Buffer.alloc(4096, 'x');
    const chunks = [Buffer.from('data: '), ...Array<Buffer>(13_000).fill(piece)];
    await expect(respond(openaiOver(cannedClient({ chunks })))).rejects.toMatchObject({ code: 'response_too_large' });
  });

  it('whose connection breaks off is incomplete, and complete once the finish reason is told', async () => {
    const server = await startOpenAiServer([
      { text: ['a', 'b'], cutAfter: 2 },
      { text: ['a', 'b'], usage: null, cutAfter: 4 },
    ]);
    const http = createHttpClient({ mode: 'operator', allowHosts: [hostPort(new URL(server.url))] });
    const provider = openaiOver(http, { base_url: server.url });
    await expect(respond(provider)).rejects.toMatchObject({ code: 'stream_incomplete', retryable: true });
    expect(await respond(provider)).toMatchObject({ finish: 'stop', message: { content: 'ab' } });
    await http.close();
    await server.close();
  });

  it('leaves its connection ready for the next request', async () => {
    const server = await startOpenAiServer([{ text: 'x', times: 5 }]);
    const http = createHttpClient({ mode: 'operator', allowHosts: [hostPort(new URL(server.url))] });
    const provider = openaiOver(http, { base_url: server.url });
    for (let turn = 0; turn < 5; turn += 1) await respond(provider);
    expect(server.accepted).toBe(1);
    await http.close();
    await server.close();
  });

  it('that never ends is left at once when the caller cancels, and its connection is closed', async () => {
    const server = await startOpenAiServer([{ hang: true }]);
    const http = createHttpClient({ mode: 'operator', allowHosts: [hostPort(new URL(server.url))] });
    const cancel = new AbortController();
    const pending = collect(openaiOver(http, { base_url: server.url }), REQUEST, cancel.signal);
    await expect.poll(() => server.count).toBe(1);
    cancel.abort();
    await expect(pending).rejects.toMatchObject({ code: 'cancelled' });
    await expect.poll(() => server.connections).toBe(0);
    await http.close();
    await server.close();
  });
});

describe('the options', () => {
  it.each([
    [{}, 'id'],
    [{ id: 'a b' }, 'id'],
    [{ id: 'own' }, 'base_url'],
    [{ id: 'own', base_url: 'ftp://x' }, 'base_url'],
    [{ id: 'own', base_url: 'http://x/?a=1' }, 'base_url'],
    [{ id: 'own', base_url: 'http://u:p@x/' }, 'base_url'],
    [{ id: 'openai', dialect: 'latin' }, 'dialect'],
    [{ id: 'openai', include_reasoning: 'yes' }, 'include_reasoning'],
    [{ id: 'openai', api_key: '' }, 'api_key'],
    [{ id: 'openai', api_key: 'two words' }, 'api_key'],
    [{ id: 'openai', format: 'anthropic' }, 'format'],
    [{ id: 'openai', max_response_bytes: 1 }, 'max_response_bytes'],
    [{ id: 'openai', reasoning_replay: 'sometimes' }, 'reasoning_replay'],
    [{ id: 'openai', colour: 'red' }, 'colour'],
  ])('%j are refused naming %s', (options, key) => {
    const base = { id: undefined, base_url: undefined };
    const create = (): unknown => openaiOver(cannedClient(answer()), { ...base, ...options });
    expect(create).toThrow(expect.objectContaining({ name: 'ConfigError', message: expect.stringContaining(`"${key}"`) }));
    expect(create).not.toThrow(/two words|u:p/);
  });
});
