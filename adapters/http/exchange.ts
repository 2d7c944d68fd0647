import type { ClientRequest, IncomingMessage } from 'node:http';
import { CancelledError } from '../../ports/errors.ts';
import type { HttpResponse } from '../../ports/http.ts';
import { HttpError } from '../../ports/http.ts';
import { toHttpError } from './errors.ts';

/** One request on the wire and everything that can end it. */
export interface Exchange {
  readonly request: ClientRequest;
  readonly host: string;
  readonly headersTimeoutMs: number | undefined;
  readonly signal: AbortSignal;
}

/** Waits for the response's headers; the request is destroyed on abort and on time-out. */
export function awaitResponse(exchange: Exchange): Promise<HttpResponse> {
  const { request, host, headersTimeoutMs, signal } = exchange;
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined;
    let responded = false;
    const onAbort = (): void => {
      request.destroy();
      settle(() => reject(new CancelledError(`the request to ${host} was cancelled`)));
    };
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      act();
    };
    if (headersTimeoutMs !== undefined) {
      timer = setTimeout(() => {
        request.destroy();
        signal.removeEventListener('abort', onAbort);
        reject(headersTimeout(host, headersTimeoutMs));
      }, headersTimeoutMs);
    }
    signal.addEventListener('abort', onAbort, { once: true });
    request.once('response', (message) => {
      responded = true;
      settle(() => resolve(toResponse(message, exchange, () => signal.removeEventListener('abort', onAbort))));
    });
    // Stays registered: a late write error after the response must not become an unhandled event.
    request.on('error', (error) => {
      if (responded) return;
      signal.removeEventListener('abort', onAbort);
      settle(() => reject(toHttpError(error, host)));
    });
  });
}

function headersTimeout(host: string, limit: number): HttpError {
  return new HttpError('headers_timeout', `${host} sent no response headers within ${limit} ms`, { value: host, limit });
}

function toResponse(message: IncomingMessage, exchange: Exchange, release: () => void): HttpResponse {
  // A body that nobody reads yet may break off; the reader is told when it comes.
  message.on('error', () => undefined);
  message.once('close', release);
  return {
    status: message.statusCode ?? 0,
    headers: joinHeaders(message.rawHeaders),
    body: readBody(message, exchange),
    cancel: () => {
      release();
      exchange.request.destroy();
    },
  };
}

async function* readBody(message: IncomingMessage, { host, signal }: Exchange): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of message) {
      if (signal.aborted) break;
      yield chunk as Uint8Array;
    }
  } catch (error) {
    if (!signal.aborted) throw toHttpError(error, host);
  }
  if (signal.aborted) throw new CancelledError(`reading the reply of ${host} was cancelled`);
}

function joinHeaders(raw: readonly string[]): Readonly<Record<string, string>> {
  const joined: Record<string, string> = Object.create(null);
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] ?? '').toLowerCase();
    const value = raw[index + 1] ?? '';
    joined[name] = joined[name] === undefined ? value : `${joined[name]}, ${value}`;
  }
  return joined;
}
