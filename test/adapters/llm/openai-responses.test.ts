import { describe, expect, it } from 'vitest';
import { needsResponses } from '../../../adapters/llm/openai/responses-rule.ts';
import responses from '../../../adapters/llm/openai-responses.ts';
import type { ModelRequest } from '../../../ports/llm.ts';
import type { Message } from '../../../ports/message.ts';
import { answer, type CannedReply, cannedClient, collect, openaiOver, providerOver, REQUEST, refusal } from './wire.ts';

const DONE: CannedReply = {
  chunks: [
    Buffer.from('{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"ok"}]}]}'),
  ],
};

const BUFFERED: ModelRequest = { ...REQUEST, stream: false };

// biome-ignore lint/suspicious/noExplicitAny: a parse boundary that tests look into.
async function sent(request: Partial<ModelRequest>, options: object = {}): Promise<any> {
  const http = cannedClient(DONE);
  await collect(providerOver(responses, http, { ...options }), { ...BUFFERED, ...request });
  return http.bodies[0];
}

const result: Message = { role: 'tool', callId: 'call_a', name: 't', content: 'r', outcome: 'completed' };
const own: Message = {
  role: 'assistant',
  content: 'So.',
  reasoning: 'Hm.',
  reasoningSignature: JSON.stringify({
    format: 'openai-responses',
    parts: [
      ['r', 3, '{"id":"rs_1","encrypted_content":"ZW5j"}'],
      ['t', 3],
      ['c', 0],
    ],
  }),
  origin: 'test',
  toolCalls: [{ id: 'call_a', name: 't', arguments: '{"a":1}' }],
};
const messages: Message[] = [{ role: 'system', content: 'base' }, { role: 'user', content: 'u' }, own, result];

describe('a request of the Responses API', () => {
  it('lists the conversation as items, with the reasoning as it came', async () => {
    const tools = [{ name: 't', description: 'd', parameters: { type: 'object' } }];
    expect(await sent({ messages, tools, thinking: 'high', maxTokens: 5 })).toEqual({
      model: 'm',
      input: [
        { role: 'system', content: 'base' },
        { role: 'user', content: 'u' },
        { type: 'reasoning', id: 'rs_1', encrypted_content: 'ZW5j', summary: [] },
        { role: 'assistant', content: 'So.' },
        { type: 'function_call', call_id: 'call_a', name: 't', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: 'call_a', output: 'r' },
      ],
      tools: [{ type: 'function', name: 't', description: 'd', parameters: { type: 'object' }, strict: false }],
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'auto' },
      max_output_tokens: 16,
    });
  });

  it('sends no reasoning where the operator says so', async () => {
    const body = await sent({ messages }, { include_reasoning: false });
    expect(JSON.stringify(body)).not.toMatch(/rs_1|encrypted/);
  });

  it('leaves the temperature out for models that think', async () => {
    expect((await sent({ temperature: 0, model: 'gpt-5.6' })).temperature).toBeUndefined();
    expect((await sent({ temperature: 0, model: 'gpt-4.1' })).temperature).toBe(0);
  });

  it.each([
    ['summaries', "Your organization must be verified to generate reasoning summaries. 'reasoning.summary'", 'summary":"auto'],
    ['reasoning that it cannot read', 'The encrypted content for item rs_1 could not be verified.', 'rs_1'],
    ['the wish for encrypted reasoning', 'Encrypted content is not supported with this model: include', 'rs_1'],
    ['a level', "Unsupported parameter: 'reasoning.effort' is not supported with this model.", '"reasoning":{'],
    ['a temperature', "Unsupported parameter: 'temperature'", '"temperature"'],
  ])('does not send %s again once it was refused', async (_what, message, field) => {
    const http = cannedClient(refusal(400, { message }), DONE);
    const provider = providerOver(responses, http);
    const request: ModelRequest = { ...BUFFERED, messages, thinking: 'low', temperature: 0 };
    await collect(provider, request);
    await collect(provider, request);
    expect(http.bodies.map((body) => JSON.stringify(body).includes(field))).toEqual([true, false, false]);
  });
});

describe('the provider openai', () => {
  it.each([
    ['gpt-5.6', undefined, true],
    ['gpt-5.6-mini', 'high', true],
    ['gpt-6', undefined, true],
    ['gpt-5.6', 'disabled', false],
    ['gpt-5.4', 'low', true],
    ['gpt-5.5', 'medium', true],
    ['gpt-5.4', undefined, false],
    ['gpt-5.4', 'disabled', false],
    ['gpt-5', 'high', false],
    ['gpt-4o', 'high', false],
  ] as const)('asks %s at the level %s over the Responses API: %s', (model, thinking, want) => {
    expect(needsResponses({ model, ...(thinking && { thinking }) })).toBe(want);
  });

  it('goes to the address that the request needs, with the same key', async () => {
    const http = cannedClient(DONE, answer());
    const provider = openaiOver(http, { id: 'openai', api_key: 'sk-0123456789' });
    await collect(provider, { ...BUFFERED, model: 'gpt-5.6' });
    await collect(provider, { ...BUFFERED, model: 'gpt-5.6', thinking: 'disabled' });
    expect(http.requests.map(({ url }) => url)).toEqual(['http://127.0.0.1:9/v1/responses', 'http://127.0.0.1:9/v1/chat/completions']);
    expect(http.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer sk-0123456789', 'Bearer sk-0123456789']);
    expect(http.bodies[1].reasoning_effort).toBe('none');
  });

  it('does so for the service of OpenAI alone', async () => {
    const http = cannedClient(answer());
    await collect(openaiOver(http, { id: 'gateway' }), { ...REQUEST, model: 'gpt-5.6' });
    expect(http.requests[0]?.url).toBe('http://127.0.0.1:9/v1/chat/completions');
  });
});
