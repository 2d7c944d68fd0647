import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createHttpClient, hostPort } from '../../../adapters/http/index.ts';
import type { LlmProviderDefinition } from '../../../adapters/llm/index.ts';
import openai from '../../../adapters/llm/openai.ts';
import type { HttpClient, HttpRequest, HttpResponse } from '../../../ports/http.ts';
import type { LlmProvider, ModelEvent, ModelRequest } from '../../../ports/llm.ts';

/** Parts of the openai adapter's tests that speak bytes. */

export const REQUEST: ModelRequest = { model: 'm', messages: [{ role: 'user', content: 'hi' }], tools: [], stream: true };

export interface CannedReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly chunks: readonly Uint8Array[];
}

export interface CannedClient extends HttpClient {
  readonly requests: readonly HttpRequest[];
  /** Parsed JSON bodies. */
  // biome-ignore lint/suspicious/noExplicitAny: a parse boundary that tests look into.
  readonly bodies: readonly any[];
}

/** An HTTP client in memory that answers each request with the next reply; the last one repeats. */
export function cannedClient(...replies: readonly CannedReply[]): CannedClient {
  const requests: HttpRequest[] = [];
  return {
    requests,
    get bodies() {
      return requests.map(({ body }) => JSON.parse(Buffer.concat(body as Uint8Array[]).toString('utf8')));
    },
    async request(request): Promise<HttpResponse> {
      const reply = replies[Math.min(requests.length, replies.length - 1)] as CannedReply;
      requests.push(request);
      async function* body(): AsyncGenerator<Uint8Array> {
        yield* reply.chunks;
      }
      return { status: reply.status ?? 200, headers: reply.headers ?? {}, body: body(), cancel: () => undefined };
    },
    close: async () => undefined,
  };
}

/** A reply with a status and a JSON error. */
export function refusal(status: number, error: object | string, headers: Readonly<Record<string, string>> = {}): CannedReply {
  return { status, headers, chunks: [Buffer.from(typeof error === 'string' ? error : JSON.stringify({ error }))] };
}

/** A streamed answer with `text`. */
export function answer(text = 'ok'): CannedReply {
  return {
    chunks: [
      Buffer.from(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text }, finish_reason: 'stop' }] })}\n\ndata: [DONE]\n\n`,
      ),
    ],
  };
}

export function openaiOver(http: HttpClient, options: Readonly<Record<string, unknown>> = {}): LlmProvider {
  const services = { http, clock: createSystemClock(), log: () => undefined };
  return openai.create({ id: 'test', base_url: 'http://127.0.0.1:9/v1', ...options }, services);
}

/** A provider of any format at an address that nobody reaches, unless another one is given. */
export function providerOver(
  definition: LlmProviderDefinition,
  http: HttpClient,
  options: Readonly<Record<string, unknown>> = {},
): LlmProvider {
  const services = { http, clock: createSystemClock(), log: () => undefined };
  return definition.create({ id: 'test', base_url: 'http://127.0.0.1:9/v1', ...options }, services) as LlmProvider;
}

export async function collect(
  provider: LlmProvider,
  request: ModelRequest = REQUEST,
  signal = new AbortController().signal,
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const event of provider.stream(request, signal)) events.push(event);
  return events;
}

export type Response = Extract<ModelEvent, { type: 'response' }>;

export async function respond(provider: LlmProvider, request: ModelRequest = REQUEST): Promise<Response> {
  return (await collect(provider, request)).at(-1) as Response;
}

export interface RawServer {
  readonly url: string;
  readonly client: HttpClient;
  close(): Promise<void>;
}

/** A real server that answers every request with `bytes`, in pieces of `pieceSize` that are written one by one. */
export async function startRawServer(bytes: Uint8Array, pieceSize: number): Promise<RawServer> {
  const server = createServer((incoming, outgoing) => {
    incoming.resume();
    const send = async (): Promise<void> => {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' });
      outgoing.socket?.setNoDelay(true);
      for (let at = 0; at < bytes.length; at += pieceSize) {
        outgoing.write(bytes.subarray(at, at + pieceSize));
        await turn();
      }
      outgoing.end();
    };
    incoming.once('end', () => void send());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const client = createHttpClient({ mode: 'operator', allowHosts: [hostPort(new URL(url))] });
  return {
    url,
    client,
    async close() {
      await client.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}
