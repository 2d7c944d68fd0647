import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
// @ts-expect-error a script of node's own, which needs no types
import { createBehaviour } from './behaviour.mjs';

type Message = { jsonrpc: '2.0'; id?: unknown; method?: string; params?: Record<string, unknown>; result?: unknown; error?: unknown };

export interface ScriptedHttpOptions {
  readonly mode?: string;
  readonly versions?: readonly string[];
  readonly modern?: boolean | 'only';
  /** How a request is answered (`sse`). */
  readonly reply?: 'json' | 'sse';
  /** Asked first for each request; true: it was answered. */
  readonly intercept?: (request: IncomingMessage, response: ServerResponse, message: Message | undefined) => boolean;
  /** Events written before the answer on its stream, as they go over the wire. */
  readonly before?: string;
}

export interface ScriptedHttpServer {
  readonly url: string;
  /** What came: the method, the headers, the message. */
  readonly requests: {
    readonly method: string;
    readonly headers: IncomingMessage['headers'];
    readonly message: Message | undefined;
    readonly url: string;
  }[];
  readonly seen: { readonly id?: unknown; readonly method: string; readonly params?: Record<string, unknown> }[];
  readonly sessions: Set<string>;
  /** Forgets every session, as a restart does. */
  forget(): void;
  /** Requests that are still being answered. */
  open(): number;
  close(): Promise<void>;
}

/** A scripted server behind Streamable HTTP on a free port of 127.0.0.1. */
export async function startScriptedHttp(options: ScriptedHttpOptions = {}): Promise<ScriptedHttpServer> {
  const behaviour = createBehaviour(options);
  const requests: ScriptedHttpServer['requests'] = [];
  const sessions = new Set<string>();
  const notices = new Set<ServerResponse>();
  const listeners = new Map<unknown, (message: Message) => void>();
  let open = 0;
  let nextSession = 1;

  const event = (message: Message): string => `data: ${JSON.stringify(message)}\n\n`;
  const tellAll = (message: Message): void => {
    for (const stream of notices) stream.write(event(message));
    for (const listener of listeners.values()) listener(message);
  };

  const server: Server = createServer(async (request, response) => {
    open += 1;
    response.on('close', () => {
      open -= 1;
    });
    const message = await bodyOf(request);
    requests.push({ method: request.method ?? '', headers: request.headers, message, url: request.url ?? '' });
    if (options.intercept?.(request, response, message)) return;
    const session = request.headers['mcp-session-id'];
    const known = typeof session === 'string' && sessions.has(session);
    if (request.method === 'DELETE') {
      if (known) sessions.delete(session);
      return void response.writeHead(known ? 200 : 404).end();
    }
    const isModern = request.headers['mcp-method'] !== undefined;
    if (!isModern && message?.method !== 'initialize' && !known)
      return void response.writeHead(session === undefined ? 400 : 404).end('no such session');
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      notices.add(response);
      response.on('close', () => notices.delete(response));
      return;
    }
    if (message === undefined) return void response.writeHead(400).end();
    const headers: Record<string, string> = {};
    if (message.method === 'initialize') {
      const id = `session-${nextSession++}`;
      sessions.add(id);
      headers['mcp-session-id'] = id;
    }
    const isRequest = message.method !== undefined && message.id !== undefined;
    const json =
      options.reply === 'json' &&
      !['pings', 'slow', 'late'].includes(String(message.params?.name)) &&
      message.method !== 'subscriptions/listen';
    if (isRequest && !json) {
      response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' });
      response.write(options.before ?? '');
      response.flushHeaders();
    }
    const reply = (sent: Message): void => {
      if (json && isRequest) {
        if (sent.id !== message.id) return;
        response.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(sent));
      } else if (sent.id === message.id && sent.method === undefined) response.end(event(sent));
      else response.write(event(sent));
    };
    if (message.method === 'subscriptions/listen') {
      listeners.set(message.id, (sent) => reply({ ...sent, params: { _meta: { 'io.modelcontextprotocol/subscriptionId': message.id } } }));
      response.on('close', () => listeners.delete(message.id));
    }
    await behaviour.handle(message, {
      send: tellAll,
      for: () => reply,
      raw: () => {},
      stderr: async () => {},
      exit: () => response.destroy(),
    });
    if (!isRequest) response.writeHead(202).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    requests,
    seen: behaviour.seen,
    sessions,
    forget: () => sessions.clear(),
    open: () => open,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<Message | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Message;
  } catch {
    return undefined;
  }
}
