import { type JSONRPCMessage, SdkErrorCode, SdkHttpError, type TransportSendOptions } from '@modelcontextprotocol/client';
import type { HttpResponse } from '../../ports/http.ts';
import type { McpHttpServer } from '../../ports/mcp.ts';
import { type Fault, TransportFault } from './faults.ts';
import { isFields } from './fields.ts';
import { readBounded, readText } from './http-body.ts';
import { createDial, type HttpAccess } from './http-dial.ts';
import { bodyHeaders, isModernRequest } from './http-headers.ts';
import { type Message, parseMessages, readStream } from './http-messages.ts';
import { createRawResults } from './raw-results.ts';
import type { OdekTransport } from './stdio.ts';

export interface HttpOptions extends HttpAccess {
  /** Milliseconds that ending the session may take (2,000). */
  readonly closeMs?: number;
}

const CLOSE_MS = 2000;
const CANCEL_MS = 2000;
/** What may still come after a result before the stream is cut. */
const LINGER_MS = 1000;
const MAX_RESUMES = 3;
const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 30_000;
/** A reply that is only shown. */
const MAX_ERROR_BYTES = 64 * 1024;

/** One session with a server behind Streamable HTTP. */
export function createHttpTransport(server: McpHttpServer, { http, authorization, closeMs = CLOSE_MS }: HttpOptions): OdekTransport {
  const seen = { messages: 0, noise: 0, firstNoise: '' };
  const results = createRawResults();
  const whole = new AbortController();
  const inFlight = new Map<unknown, AbortController>();
  /** Those of `inFlight` whose reply is a stream that is still read. */
  const streaming = new Set<AbortController>();
  let sessionId: string | undefined;
  let version: string | undefined;
  let ending: Fault | undefined;
  let closing: Promise<void> | undefined;

  const forget = (key: unknown, exchange: AbortController): void => {
    if (inFlight.get(key) === exchange) inFlight.delete(key);
  };

  const dial = createDial({
    http,
    authorization,
    url: server.url,
    lifetime: whole.signal,
    common: () => ({
      ...(version === undefined ? {} : { 'mcp-protocol-version': version }),
      ...(sessionId === undefined ? {} : { 'mcp-session-id': sessionId }),
    }),
  });

  const deliver = (message: Message, bytes: number): void => {
    seen.messages += 1;
    transport.onmessage?.(results.received(message, bytes) as unknown as JSONRPCMessage);
  };

  /** The answer to one request, on a stream that may break off and be taken up again. */
  const awaitAnswer = async (response: HttpResponse, message: Message, exchange: AbortController): Promise<void> => {
    const answered = Promise.withResolvers<void>();
    streaming.add(exchange);
    let got = false;
    let linger: NodeJS.Timeout | undefined;
    const onMessage = (each: Message, bytes: number): void => {
      deliver(each, bytes);
      if (each.id !== message.id || each.method !== undefined) return;
      got = true;
      linger ??= setTimeout(() => exchange.abort(), LINGER_MS);
      answered.resolve();
    };
    const follow = async (): Promise<void> => {
      let stream = response;
      let lastId: string | undefined;
      for (let resumes = 0; ; resumes += 1) {
        const end = await readStream(stream, server.maxResponseBytes, onMessage);
        if (got) return;
        lastId = end.lastId ?? lastId;
        if (lastId === undefined || resumes === MAX_RESUMES || exchange.signal.aborted)
          throw end.broken ?? new TransportFault({ kind: 'no_result' });
        await pause(Math.min(end.retryMs ?? FIRST_WAIT_MS, MAX_WAIT_MS), exchange.signal);
        stream = await dial('GET', { accept: 'text/event-stream', 'last-event-id': lastId }, undefined, exchange.signal);
        if (stream.status !== 200) throw await failureOf(stream);
      }
    };
    follow()
      .catch((error) => (got ? undefined : answered.reject(error)))
      .finally(() => {
        clearTimeout(linger);
        streaming.delete(exchange);
        forget(message.id, exchange);
      });
    return answered.promise;
  };

  const receive = async (
    response: HttpResponse,
    message: Message,
    exchange: AbortController,
    options?: TransportSendOptions,
  ): Promise<void> => {
    const type = (response.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
    if (message.method === undefined || message.id === undefined) {
      void readText(response, MAX_ERROR_BYTES);
      if (message.method === 'notifications/initialized') void followNotices();
      return;
    }
    if (type === 'text/event-stream') {
      return awaitAnswer(response, message, exchange).finally(() => {
        if (!exchange.signal.aborted) options?.onRequestStreamEnd?.();
      });
    }
    if (type !== 'application/json') {
      response.cancel();
      throw new TransportFault({
        kind: 'bad_message',
        why: `the reply is neither JSON nor a stream of events but ${JSON.stringify(type ?? '')}`,
      });
    }
    const { text, bytes } = await readBounded(response, server.maxResponseBytes);
    const messages = parseMessages(text);
    if (messages === undefined) throw new TransportFault({ kind: 'bad_message', why: 'the reply is not JSON-RPC' });
    for (const each of messages) deliver(each, bytes);
    if (!messages.some((each) => each.id === message.id)) throw new TransportFault({ kind: 'no_result' });
  };

  const post = async (message: Message, exchange: AbortController, options?: TransportSendOptions): Promise<void> => {
    const isHandshake = message.method === 'initialize';
    if (isHandshake) sessionId = undefined;
    const hadSession = sessionId !== undefined;
    const headers = {
      ...options?.headers,
      ...bodyHeaders(message),
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    };
    const response = await dial('POST', headers, JSON.stringify(message), exchange.signal);
    if (response.status >= 200 && response.status < 300) {
      if (isHandshake) sessionId = response.headers['mcp-session-id'];
      return receive(response, message, exchange, options);
    }
    const failure = await failureOf(response);
    if (hadSession && isSessionUnknown(failure)) {
      lose();
      throw new TransportFault({ kind: 'session_gone' });
    }
    const refusal = isModernRequest(message) ? parseMessages(String(failure.data?.text ?? ''))?.[0] : undefined;
    if (refusal?.error === undefined || refusal.id !== message.id) throw failure;
    deliver(refusal, 0);
  };

  /** The session is over: what still runs in it is left to find that out by itself. */
  const lose = (): void => {
    sessionId = undefined;
    ending ??= { kind: 'session_gone' };
  };

  /** A cancelled request's stream is closed once the server was told, or could have been. */
  const cancel = async (message: Message, requestId: unknown): Promise<void> => {
    const exchange = new AbortController();
    const late = setTimeout(() => exchange.abort(), CANCEL_MS);
    try {
      await post(message, exchange);
    } finally {
      clearTimeout(late);
      inFlight.get(requestId)?.abort();
    }
  };

  /** What the server says unasked, for as long as the session lasts. */
  const followNotices = async (): Promise<void> => {
    let lastId: string | undefined;
    for (let failures = 0; failures <= MAX_RESUMES && !whole.signal.aborted && ending === undefined; failures += 1) {
      let retryMs: number | undefined;
      try {
        const headers = { accept: 'text/event-stream', ...(lastId === undefined ? {} : { 'last-event-id': lastId }) };
        const response = await dial('GET', headers, undefined, whole.signal);
        if (response.status !== 200 || !response.headers['content-type']?.startsWith('text/event-stream')) return response.cancel();
        const before = seen.messages;
        const end = await readStream(response, server.maxResponseBytes, deliver);
        lastId = end.lastId ?? lastId;
        retryMs = end.retryMs;
        if (seen.messages > before) failures = 0;
      } catch {
        // The stream is a convenience: calls work without it.
      }
      await pause(Math.min(retryMs ?? FIRST_WAIT_MS * 2 ** failures, MAX_WAIT_MS), whole.signal).catch(() => {});
    }
  };

  const endSession = async (): Promise<void> => {
    const id = sessionId;
    ending ??= { kind: 'closed' };
    whole.abort();
    for (const exchange of inFlight.values()) exchange.abort();
    transport.onclose?.();
    if (id === undefined) return;
    const limit = new AbortController();
    const late = setTimeout(() => limit.abort(), closeMs);
    try {
      const response = await dial('DELETE', {}, undefined, limit.signal);
      response.cancel();
    } catch {
      // The server forgets the session in its own time.
    } finally {
      sessionId = undefined;
      clearTimeout(late);
    }
  };

  const transport: OdekTransport = {
    seen,
    hasPerRequestStream: true,
    get sessionId() {
      return sessionId;
    },
    setProtocolVersion(negotiated) {
      version = negotiated;
    },
    ending: () => ending,
    stderrTail: () => '',
    start: async () => {},
    async send(sent, options) {
      const message = sent as unknown as Message;
      if (ending !== undefined) throw new TransportFault(ending);
      const cancelled = message.method === 'notifications/cancelled' && isFields(message.params) ? message.params.requestId : undefined;
      if (cancelled !== undefined) return cancel(message, cancelled);
      results.sent(message);
      const exchange = new AbortController();
      const key = message.method === undefined ? exchange : (message.id ?? exchange);
      inFlight.set(key, exchange);
      const abort = (): void => exchange.abort();
      options?.requestSignal?.addEventListener('abort', abort, { once: true });
      try {
        await post(message, exchange, options);
      } finally {
        options?.requestSignal?.removeEventListener('abort', abort);
        results.forget(message.id);
        // A stream that lingers takes itself out.
        if (!streaming.has(exchange)) forget(key, exchange);
      }
    },
    abandon() {
      sessionId = undefined;
      void transport.close();
    },
    close() {
      closing ??= endSession();
      return closing;
    },
  };
  return transport;
}

/** 404 as the protocol wants it, or the 400 with a word about the session that many servers send in its place. */
function isSessionUnknown({ data }: SdkHttpError): boolean {
  return data?.status === 404 || (data?.status === 400 && /\bsession\b/i.test(String(data.text)));
}

/** The SDK reads status and text of this to tell an old server from a broken one. */
async function failureOf(response: HttpResponse): Promise<SdkHttpError> {
  const text = await readText(response, MAX_ERROR_BYTES);
  return new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, text.trim() === '' ? 'no explanation' : text.slice(0, 500), {
    status: response.status,
    statusText: '',
    text,
  });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (signal.aborted) return Promise.reject(new TransportFault({ kind: 'closed' }));
  const stop = (): void => {
    clearTimeout(timer);
    reject(new TransportFault({ kind: 'closed' }));
  };
  const timer = setTimeout(() => {
    signal.removeEventListener('abort', stop);
    resolve();
  }, ms);
  signal.addEventListener('abort', stop, { once: true });
  return promise;
}
