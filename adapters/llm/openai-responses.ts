import type { AdapterServices } from '../../ports/adapter.ts';
import { defineAdapter } from '../../ports/adapter.ts';
import type { LlmProvider } from '../../ports/llm.ts';
import { DIALECTS } from './dialects.ts';
import { limitsOf, listModels } from './openai/models.ts';
import type { ResponsesFeatures } from './responses/features.ts';
import { initialFeatures, learnFrom } from './responses/features.ts';
import { responsesReply } from './responses/reply-mapper.ts';
import { createResponsesEncoder } from './responses/request-body.ts';
import { SERVICES } from './services.ts';
import type { EndpointOptions } from './wire/endpoint.ts';
import { createEndpoint } from './wire/endpoint.ts';
import { ENDPOINT_KEYS, parseEndpoint, readProviderOptions } from './wire/endpoint-options.ts';
import type { WireFormat } from './wire/model-call.ts';
import { callModel, createModelMemory } from './wire/model-call.ts';
import { readReply } from './wire/reply-reader.ts';

/** Responses at `<base_url>/responses`, which some of OpenAI's models need to think beside tools. */
export default defineAdapter({
  port: 'llm-provider',
  name: 'openai-responses',
  create: (options, services) => createResponsesProvider(parseResponsesOptions(options), services),
});

export interface ResponsesOptions {
  readonly endpoint: EndpointOptions;
  /** Send earlier reasoning back. */
  readonly replay: boolean;
}

/** Throws `ConfigError` that names the key, the value and the limit. A key's value is never shown. */
function parseResponsesOptions(options: Readonly<Record<string, unknown>>): ResponsesOptions {
  const { read, id } = readProviderOptions(options, 'openai-responses', ENDPOINT_KEYS);
  return { endpoint: parseEndpoint(read, id, SERVICES.openai), replay: read.flag('include_reasoning') ?? true };
}

export function createResponsesProvider({ endpoint: address, replay }: ResponsesOptions, services: AdapterServices): LlmProvider {
  const auth: Record<string, string> = address.apiKey === undefined ? {} : { authorization: `Bearer ${address.apiKey}` };
  const endpoint = createEndpoint(address, services, auth);
  const encoder = createResponsesEncoder(address.id);
  const url = `${address.baseUrl}/responses`;
  const format: WireFormat<ResponsesFeatures> = {
    encode: (request, features) => ({ url, body: encoder.encode(request, features), streams: request.stream && features.stream }),
    read: (response, request, context) => readReply(response, responsesReply(request), context),
    learn: learnFrom,
  };
  const memory = createModelMemory((model) => initialFeatures(model, replay));
  return {
    name: address.id,
    stream: (request, signal) => callModel({ endpoint, clock: services.clock, format, memory }, request, signal),
    limits: limitsOf,
    models: (signal) => listModels(endpoint, DIALECTS.openai, signal),
    // Connections belong to the HTTP client, which its owner closes.
    close: async () => undefined,
  };
}
