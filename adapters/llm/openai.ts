import type { AdapterServices } from '../../ports/adapter.ts';
import { defineAdapter } from '../../ports/adapter.ts';
import type { LlmProvider, ModelEvent, ModelRequest } from '../../ports/llm.ts';
import { createChatFormat } from './openai/chat-format.ts';
import { limitsOf, listModels } from './openai/models.ts';
import type { OpenAiOptions } from './openai/options.ts';
import { parseOpenAiOptions } from './openai/options.ts';
import { needsResponses } from './openai/responses-rule.ts';
import { createEndpoint } from './wire/endpoint.ts';
import { callModel, createServiceMemory } from './wire/model-call.ts';

/** Chat completions at `<base_url>/chat/completions`, as OpenAI defined them and many services speak them. */
export default defineAdapter({
  port: 'llm-provider',
  name: 'openai',
  create: (options, services) => createOpenAiProvider(parseOpenAiOptions(options), services),
});

function createOpenAiProvider(options: OpenAiOptions, services: AdapterServices): LlmProvider {
  const { endpoint: address, dialect, mayUseResponses } = options;
  const auth: Record<string, string> = address.apiKey === undefined ? {} : { authorization: `Bearer ${address.apiKey}` };
  const endpoint = createEndpoint(address, services, auth);
  const chat = { endpoint, clock: services.clock, format: createChatFormat(options), memory: createServiceMemory(options.features) };
  let responses: Promise<LlmProvider> | undefined;

  const overResponses = async (): Promise<LlmProvider> => {
    const { createResponsesProvider } = await import('./openai-responses.ts');
    return createResponsesProvider({ endpoint: address, replay: true }, services);
  };
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    if (mayUseResponses && needsResponses(request)) {
      responses ??= overResponses();
      yield* (await responses).stream(request, signal);
    } else {
      yield* callModel(chat, request, signal);
    }
  }
  return {
    name: address.id,
    stream,
    limits: limitsOf,
    models: (signal) => listModels(endpoint, dialect, signal),
    // Connections belong to the HTTP client, which its owner closes.
    close: async () => undefined,
  };
}
