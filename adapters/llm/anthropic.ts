import type { AdapterServices } from '../../ports/adapter.ts';
import { defineAdapter } from '../../ports/adapter.ts';
import type { LlmProvider, ModelInfo } from '../../ports/llm.ts';
import type { MessagesFeatures } from './anthropic/features.ts';
import { initialFeatures, learnFrom } from './anthropic/features.ts';
import type { AnthropicOptions } from './anthropic/options.ts';
import { parseAnthropicOptions } from './anthropic/options.ts';
import { messagesReply } from './anthropic/reply-mapper.ts';
import { createMessagesEncoder } from './anthropic/request-body.ts';
import { asText } from './json-reading.ts';
import { contextWindowOf, outputCapOf } from './model-table.ts';
import type { Endpoint } from './wire/endpoint.ts';
import { createEndpoint } from './wire/endpoint.ts';
import type { WireFormat } from './wire/model-call.ts';
import { callModel, createModelMemory } from './wire/model-call.ts';
import { asLimit, collectModels, modelInfo } from './wire/model-list.ts';
import { readReply } from './wire/reply-reader.ts';

const VERSION = '2023-06-01';

/** Messages at `<base_url>/v1/messages`, as Anthropic defined them. */
export default defineAdapter({
  port: 'llm-provider',
  name: 'anthropic',
  create: (options, services) => createAnthropicProvider(parseAnthropicOptions(options), services),
});

function createAnthropicProvider(options: AnthropicOptions, services: AdapterServices): LlmProvider {
  const { id, baseUrl, apiKey } = options.endpoint;
  const auth = { 'anthropic-version': VERSION, ...(apiKey === undefined ? {} : { 'x-api-key': apiKey }) };
  const endpoint = createEndpoint(options.endpoint, services, auth);
  const root = /\/v\d+$/.test(baseUrl) ? baseUrl : `${baseUrl}/v1`;
  const encoder = createMessagesEncoder(options);
  const format: WireFormat<MessagesFeatures> = {
    encode: (request, features) => ({
      url: `${root}/messages`,
      body: encoder.encode(request, features),
      streams: request.stream && features.stream,
    }),
    read: (response, request, context) => readReply(response, messagesReply(request), context),
    learn: learnFrom,
  };
  const memory = createModelMemory((model) => initialFeatures(model, options));
  return {
    name: id,
    stream: (request, signal) => callModel({ endpoint, clock: services.clock, format, memory }, request, signal),
    limits(model) {
      const contextWindow = contextWindowOf(model);
      const maxOutputTokens = outputCapOf(model);
      return { ...(contextWindow === undefined ? {} : { contextWindow }), ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }) };
    },
    models: (signal) => listModels(endpoint, `${root}/models`, signal),
    // Connections belong to the HTTP client, which its owner closes.
    close: async () => undefined,
  };
}

function listModels(endpoint: Endpoint, url: string, signal: AbortSignal): Promise<readonly ModelInfo[]> {
  return collectModels(
    async (next) => {
      const after = next === undefined ? '' : `&after_id=${encodeURIComponent(next)}`;
      const body = await endpoint.getJson(`${url}?limit=1000${after}`, signal);
      return { entries: body.data, next: body.has_more === true ? asText(body.last_id) : undefined };
    },
    (raw) => {
      const id = asText(raw.id);
      return id === undefined ? undefined : modelInfo(id, asText(raw.display_name), asLimit(raw.max_input_tokens), asLimit(raw.max_tokens));
    },
  );
}
