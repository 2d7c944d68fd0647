import type { AdapterServices } from '../../../ports/adapter.ts';
import { isOdekError } from '../../../ports/errors.ts';
import type { HttpRequest, HttpResponse } from '../../../ports/http.ts';
import { HttpError } from '../../../ports/http.ts';
import { ProviderError } from '../../../ports/llm.ts';
import type { JsonObject } from '../json-reading.ts';
import { asObject, parseJson } from '../json-reading.ts';
import type { Failure, FailureSource } from './failure.ts';
import { fromHttpError, readFailure, readRetryAfter, toProviderError } from './failure.ts';

const HEADERS_TIMEOUT_MS = 600_000;
const MAX_ERROR_BYTES = 64 * 1024;
const ERROR_BODY_MS = 5_000;
const MAX_LIST_BYTES = 8 * 1024 * 1024;
/** A shorter key is a placeholder for a server that wants none; hiding it would tear words apart. */
const MIN_KEY_LENGTH = 8;

export interface EndpointOptions {
  readonly id: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  /** How the operator sets the key, in words. */
  readonly keyHint: string;
  /** Bytes of a reply, at most. */
  readonly maxBytes: number;
}

export interface PostRequest {
  readonly url: string;
  readonly body: readonly Uint8Array[];
  readonly streams: boolean;
}

/** The service behind a base URL: requests with its key, its failures with one meaning, its key kept out of texts. */
export interface Endpoint {
  readonly options: EndpointOptions;
  source(model: string): FailureSource;
  hideKey(text: string): string;
  post(request: PostRequest, source: FailureSource, signal: AbortSignal): Promise<HttpResponse>;
  /** A small JSON document. Throws `ProviderError` for any other answer. */
  getJson(url: string, signal: AbortSignal): Promise<JsonObject>;
  /** Reads a reply with a failing status to its end. */
  failureOf(response: HttpResponse): Promise<Failure>;
}

/** `auth`: the headers that carry the key and the version of the format. */
export function createEndpoint(options: EndpointOptions, services: AdapterServices, auth: Readonly<Record<string, string>>): Endpoint {
  const { id, baseUrl, keyHint } = options;
  const hideKey = createKeyHider(options.apiKey);
  const source = (model: string): FailureSource => ({ id, baseUrl, model, keyHint });

  const send = async (request: HttpRequest, from: FailureSource, signal: AbortSignal): Promise<HttpResponse> => {
    try {
      return await services.http.request({ ...request, headersTimeoutMs: HEADERS_TIMEOUT_MS }, signal);
    } catch (error) {
      throw isOdekError(error) && error.code !== 'cancelled' ? fromHttpError(error, from) : error;
    }
  };
  const failureOf = async (response: HttpResponse): Promise<Failure> => {
    const text = await readText(response, MAX_ERROR_BYTES, services);
    return readFailure(response.status, text, { retryAfterMs: readRetryAfter(response.headers, services.clock.now()) }, hideKey);
  };
  return {
    options,
    source,
    hideKey,
    failureOf,
    post({ url, body, streams }, from, signal) {
      const accept = streams ? 'text/event-stream' : 'application/json';
      return send({ method: 'POST', url, headers: { 'content-type': 'application/json', accept, ...auth }, body }, from, signal);
    },
    async getJson(url, signal) {
      const from = source('');
      const response = await send({ method: 'GET', url, headers: { accept: 'application/json', ...auth } }, from, signal);
      if (response.status < 200 || response.status >= 300) throw toProviderError(await failureOf(response), from);
      const body = asObject(parseJson(await readText(response, MAX_LIST_BYTES, services))?.value);
      if (body !== undefined) return body;
      throw new ProviderError('invalid_response', `${id}: ${url} did not answer with a JSON object`, { value: url });
    },
  };
}

async function readText(response: HttpResponse, maxBytes: number, { clock }: AdapterServices): Promise<string> {
  const stop = clock.after(ERROR_BODY_MS, () => response.cancel());
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > maxBytes) break;
    }
  } catch (error) {
    // A status with half an explanation still says what happened; a cancel is not an explanation.
    if (!(error instanceof HttpError)) throw error;
  } finally {
    stop();
    response.cancel();
  }
  return text;
}

/** Services quote the key they refuse, whole or in part. */
function createKeyHider(key: string | undefined): (text: string) => string {
  const masked = /\b(?:sk-|AIza)[A-Za-z0-9*_-]{6,}/g;
  const hidden = key !== undefined && key.length >= MIN_KEY_LENGTH ? key : undefined;
  return (text) => (hidden === undefined ? text : text.replaceAll(hidden, '[key]')).replace(masked, '[key]');
}
