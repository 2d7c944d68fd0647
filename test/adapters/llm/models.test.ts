import { describe, expect, it } from 'vitest';
import { createHttpClient, hostPort } from '../../../adapters/http/index.ts';
import anthropic from '../../../adapters/llm/anthropic.ts';
import gemini from '../../../adapters/llm/gemini.ts';
import type { LlmProviderDefinition } from '../../../adapters/llm/index.ts';
import openai from '../../../adapters/llm/openai.ts';
import type { ModelInfo, ProviderError } from '../../../ports/llm.ts';
import { startOpenAiServer } from '../../fakes/openai-server.ts';
import { type CannedReply, cannedClient, providerOver, refusal } from './wire.ts';

const never = (): AbortSignal => new AbortController().signal;

function page(body: object): CannedReply {
  return { chunks: [Buffer.from(JSON.stringify(body))] };
}

async function list(
  definition: LlmProviderDefinition,
  replies: readonly CannedReply[],
  options: object = {},
): Promise<readonly ModelInfo[]> {
  return (await providerOver(definition, cannedClient(...replies), { ...options }).models?.(never())) ?? [];
}

describe('the models of a service', () => {
  it('of the OpenAI format are listed with the window under any of its names', async () => {
    const data = [
      { id: 'plain', object: 'model' },
      { id: 'vllm', max_model_len: 32_768 },
      { id: 'router', name: 'Router: Large', context_length: 200_000, top_provider: { max_completion_tokens: 8_192 } },
      { id: 'groq', context_window: 131_072, max_completion_tokens: 1_024 },
      { id: 'llama', meta: { n_ctx_train: 40_960 } },
      { id: 'odd', context_length: 0, max_model_len: 'many' },
      { id: 'plain' },
      { object: 'model' },
      'nonsense',
    ];
    expect(await list(openai, [page({ object: 'list', data })])).toEqual([
      { id: 'plain' },
      { id: 'vllm', contextWindow: 32_768 },
      { id: 'router', name: 'Router: Large', contextWindow: 200_000, maxOutputTokens: 8_192 },
      { id: 'groq', contextWindow: 131_072, maxOutputTokens: 1_024 },
      { id: 'llama', contextWindow: 40_960 },
      { id: 'odd' },
    ]);
  });

  it('of a llama.cpp server have the window that it was started with', async () => {
    const replies = [
      page({ data: [{ id: 'm', meta: { n_ctx_train: 131_072 } }] }),
      page({ default_generation_settings: { n_ctx: 8_192 } }),
    ];
    expect(await list(openai, replies, { dialect: 'llama.cpp' })).toEqual([{ id: 'm', contextWindow: 8_192 }]);
    expect(await list(openai, [replies[0] as CannedReply, refusal(404, {})], { dialect: 'llama.cpp' })).toEqual([
      { id: 'm', contextWindow: 131_072 },
    ]);
  });

  it('of the Anthropic format come in pages', async () => {
    const http = cannedClient(
      page({
        data: [{ id: 'claude-a', display_name: 'Claude A', max_input_tokens: 1_000_000, max_tokens: 64_000 }],
        has_more: true,
        last_id: 'claude-a',
      }),
      page({ data: [{ id: 'claude-b' }], has_more: false, last_id: 'claude-b' }),
    );
    const provider = providerOver(anthropic, http, { base_url: 'http://127.0.0.1:9', api_key: 'k' });
    expect(await provider.models?.(never())).toEqual([
      { id: 'claude-a', name: 'Claude A', contextWindow: 1_000_000, maxOutputTokens: 64_000 },
      { id: 'claude-b' },
    ]);
    expect(http.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET http://127.0.0.1:9/v1/models?limit=1000',
      'GET http://127.0.0.1:9/v1/models?limit=1000&after_id=claude-a',
    ]);
    expect(http.requests[1]?.headers['x-api-key']).toBe('k');
  });

  it('of the Gemini format are those that generate content', async () => {
    const models = [
      {
        name: 'models/gemini-x',
        displayName: 'Gemini X',
        inputTokenLimit: 1_048_576,
        outputTokenLimit: 65_536,
        supportedGenerationMethods: ['generateContent'],
      },
      { name: 'models/embed', inputTokenLimit: 2_048, supportedGenerationMethods: ['embedContent'] },
      { name: 'models/other' },
    ];
    expect(await list(gemini, [page({ models: models.slice(0, 2), nextPageToken: 'p2' }), page({ models: models.slice(2) })])).toEqual([
      { id: 'gemini-x', name: 'Gemini X', contextWindow: 1_048_576, maxOutputTokens: 65_536 },
      { id: 'other' },
    ]);
  });

  it('are asked for in at most ten pages, however many a service offers', async () => {
    let count = 0;
    const http = {
      async request() {
        count += 1;
        async function* body(): AsyncGenerator<Uint8Array> {
          yield Buffer.from(JSON.stringify({ data: [{ id: `m${count}` }], has_more: true, last_id: `m${count}` }));
        }
        return { status: 200, headers: {}, body: body(), cancel: () => undefined };
      },
      close: async () => undefined,
    };
    expect((await providerOver(anthropic, http).models?.(never()))?.length).toBe(10);
    expect(count).toBe(10);
  });

  it.each([
    [401, 'provider_auth'],
    [404, 'provider_request'],
    [503, 'provider_unavailable'],
  ])('that are refused with %s are a failure with a meaning', async (status, code) => {
    await expect(list(openai, [refusal(status, { message: 'no' })])).rejects.toMatchObject({ name: 'ProviderError', code });
  });

  it('that come as no JSON object are a failure', async () => {
    const error = await list(openai, [{ chunks: [Buffer.from('<html>')] }]).catch((caught: ProviderError) => caught);
    expect(error).toMatchObject({ name: 'ProviderError', code: 'invalid_response' });
  });

  it('come over a real connection, and the question ends with its signal', async () => {
    const server = await startOpenAiServer([], { models: [{ id: 'real', max_model_len: 10 }] });
    const http = createHttpClient({ mode: 'operator', allowHosts: [hostPort(new URL(server.url))] });
    const provider = providerOver(openai, http, { base_url: server.url });
    expect(await provider.models?.(never())).toEqual([{ id: 'real', contextWindow: 10 }]);
    await expect(provider.models?.(AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
    await http.close();
    await server.close();
  });
});
