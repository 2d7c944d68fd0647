import type { AdapterServices } from '../../ports/adapter.ts';
import { defineAdapter } from '../../ports/adapter.ts';
import { isOdekError } from '../../ports/errors.ts';
import type { HttpResponse } from '../../ports/http.ts';
import { HttpError } from '../../ports/http.ts';
import type { LlmProvider, ModelEvent, ModelRequest } from '../../ports/llm.ts';
import { contextWindowOf } from './dialects.ts';
import type { Failure, FailureSource } from './openai/failure.ts';
import { fromHttpError, readFailure, readRetryAfter, toProviderError } from './openai/failure.ts';
import { learnFrom } from './openai/learning.ts';
import type { OpenAiOptions } from './openai/options.ts';
import { parseOpenAiOptions } from './openai/options.ts';
import { readReply } from './openai/reply-reader.ts';
import type { WireFeatures } from './openai/request-body.ts';
import { createBodyEncoder } from './openai/request-body.ts';

const HEADERS_TIMEOUT_MS = 600_000;
const MAX_ERROR_BYTES = 64 * 1024;
const ERROR_BODY_MS = 5_000;

/** Chat completions at `<base_url>/chat/completions`, as OpenAI defined them and many services speak them. */
export default defineAdapter({
  port: 'llm-provider',
  name: 'openai',
  create: (options, services) => createOpenAiProvider(parseOpenAiOptions(options), services),
});

function createOpenAiProvider(options: OpenAiOptions, services: AdapterServices): LlmProvider {
  const { id, baseUrl, dialect } = options;
  const url = `${baseUrl}/chat/completions`;
  const encoder = createBodyEncoder(dialect);
  const hideKey = createKeyHider(options.apiKey);
  let features: WireFeatures = { ...options.features };

  const send = async (request: ModelRequest, signal: AbortSignal, source: FailureSource): Promise<HttpResponse> => {
    const streams = request.stream && features.stream;
    const headers = {
      'content-type': 'application/json',
      accept: streams ? 'text/event-stream' : 'application/json',
      ...(options.apiKey === undefined ? {} : { authorization: `Bearer ${options.apiKey}` }),
    };
    const body = encoder.encode(request, features);
    try {
      return await services.http.request({ method: 'POST', url, headers, body, headersTimeoutMs: HEADERS_TIMEOUT_MS }, signal);
    } catch (error) {
      throw isOdekError(error) && error.code !== 'cancelled' ? fromHttpError(error, source) : error;
    }
  };

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const source: FailureSource = { id, baseUrl, model: request.model, keyHint: options.keyHint };
    const learned = new Set<keyof WireFeatures>();
    for (;;) {
      const response = await send(request, signal, source);
      if (response.status >= 200 && response.status < 300) {
        const onBuffered = (): string | undefined => {
          if (!request.stream || !features.stream) return undefined;
          features = { ...features, stream: false };
          return `${id}: the service does not stream; answers come in one piece from now on`;
        };
        const { clock } = services;
        const { maxBytes, doneWithoutFinish } = options;
        yield* readReply(response, { clock, source, request, maxBytes, doneWithoutFinish, hideKey, onBuffered });
        return;
      }
      const failure = await readFailureBody(response, services, hideKey);
      const lesson = learnFrom(failure, features, request);
      if (lesson === undefined || learned.has(lesson.about)) throw toProviderError(failure, source);
      learned.add(lesson.about);
      features = lesson.features;
      yield { type: 'notice', text: `${id}: ${lesson.notice}` };
    }
  }

  return {
    name: id,
    stream,
    limits(model) {
      const contextWindow = contextWindowOf(model);
      return contextWindow === undefined ? {} : { contextWindow };
    },
    // Connections belong to the HTTP client, which its owner closes.
    close: async () => undefined,
  };
}

async function readFailureBody(response: HttpResponse, services: AdapterServices, hideKey: (text: string) => string): Promise<Failure> {
  const stop = services.clock.after(ERROR_BODY_MS, () => response.cancel());
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > MAX_ERROR_BYTES) break;
    }
  } catch (error) {
    // A status with half an explanation still says what happened; a cancel is not an explanation.
    if (!(error instanceof HttpError)) throw error;
  } finally {
    stop();
    response.cancel();
  }
  const retryAfterMs = readRetryAfter(response.headers, services.clock.now());
  return readFailure(response.status, text, { retryAfterMs }, hideKey);
}

/** Services quote the key they refuse, whole or in part. */
function createKeyHider(key: string | undefined): (text: string) => string {
  const masked = /\bsk-[A-Za-z0-9*_-]{6,}/g;
  return (text) => (key === undefined ? text : text.replaceAll(key, '[key]')).replace(masked, '[key]');
}
