import type { AdapterServices } from '../../ports/adapter.ts';
import { defineAdapter } from '../../ports/adapter.ts';
import type { LlmProvider, ModelInfo } from '../../ports/llm.ts';
import type { GeminiFeatures } from './gemini/features.ts';
import { initialFeatures, learnFrom } from './gemini/features.ts';
import type { GeminiOptions } from './gemini/options.ts';
import { parseGeminiOptions } from './gemini/options.ts';
import { geminiReply } from './gemini/reply-mapper.ts';
import { createGeminiEncoder } from './gemini/request-body.ts';
import { asText } from './json-reading.ts';
import { contextWindowOf } from './model-table.ts';
import type { Endpoint } from './wire/endpoint.ts';
import { createEndpoint } from './wire/endpoint.ts';
import type { WireFormat } from './wire/model-call.ts';
import { callModel, createModelMemory } from './wire/model-call.ts';
import { asLimit, collectModels, modelInfo } from './wire/model-list.ts';
import { readReply } from './wire/reply-reader.ts';

/** Generated content at `<base_url>/v1beta/models/<model>`, as Google defined it. */
export default defineAdapter({
  port: 'llm-provider',
  name: 'gemini',
  create: (options, services) => createGeminiProvider(parseGeminiOptions(options), services),
});

function createGeminiProvider(options: GeminiOptions, services: AdapterServices): LlmProvider {
  const { id, baseUrl, apiKey } = options.endpoint;
  const endpoint = createEndpoint(options.endpoint, services, apiKey === undefined ? {} : { 'x-goog-api-key': apiKey });
  const root = /\/v\d+(?:beta\d*|alpha\d*)?$/.test(baseUrl) ? baseUrl : `${baseUrl}/v1beta`;
  const encoder = createGeminiEncoder(options);
  const format: WireFormat<GeminiFeatures> = {
    encode(request, features) {
      const streams = request.stream && features.stream;
      const verb = streams ? 'streamGenerateContent?alt=sse' : 'generateContent';
      return { url: `${root}/${modelPath(request.model)}:${verb}`, body: encoder.encode(request, features), streams };
    },
    read: (response, request, context) => readReply(response, geminiReply(request), context),
    learn: learnFrom,
  };
  const memory = createModelMemory(initialFeatures);
  return {
    name: id,
    stream: (request, signal) => callModel({ endpoint, clock: services.clock, format, memory }, request, signal),
    limits(model) {
      const contextWindow = contextWindowOf(model);
      return contextWindow === undefined ? {} : { contextWindow };
    },
    models: (signal) => listModels(endpoint, `${root}/models`, signal),
    // Connections belong to the HTTP client, which its owner closes.
    close: async () => undefined,
  };
}

function modelPath(model: string): string {
  const [collection, name] = model.split('/', 2);
  const isPath = (collection === 'models' || collection === 'tunedModels') && name !== undefined;
  return isPath ? `${collection}/${encodeURIComponent(name)}` : `models/${encodeURIComponent(model)}`;
}

function listModels(endpoint: Endpoint, url: string, signal: AbortSignal): Promise<readonly ModelInfo[]> {
  return collectModels(
    async (next) => {
      const token = next === undefined ? '' : `&pageToken=${encodeURIComponent(next)}`;
      const body = await endpoint.getJson(`${url}?pageSize=1000${token}`, signal);
      return { entries: body.models, next: asText(body.nextPageToken) };
    },
    (raw) => {
      const methods = raw.supportedGenerationMethods;
      const id = asText(raw.name)?.replace(/^models\//, '');
      if (id === undefined || (Array.isArray(methods) && !methods.includes('generateContent'))) return undefined;
      return modelInfo(id, asText(raw.displayName), asLimit(raw.inputTokenLimit), asLimit(raw.outputTokenLimit));
    },
  );
}
