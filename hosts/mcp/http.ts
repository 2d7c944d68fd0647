import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostHeaderValidation, originValidation, toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  type McpServerFactory,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import { createSessions } from './http-sessions.ts';
import { MAX_REQUEST_BYTES } from './stream-transport.ts';

/** Where the server is. */
export const MCP_PATH = '/mcp';

const MAX_CONNECTIONS = 256;
const MAX_SUBSCRIPTIONS = 64;
const REQUEST_TIMEOUT_MS = 60_000;
/** A connection that the client is about to use again must not be closed under its hands. */
const KEEP_ALIVE_MS = 65_000;
/** Milliseconds that requests under way have once the server is told to end. */
const LAST_ANSWERS_MS = 2_000;

export interface ServeHttpOptions {
  /** A name or address to listen at. */
  readonly host: string;
  /** 0: the system chooses. */
  readonly port: number;
  /** Absent: everybody who reaches the address may ask. */
  readonly token?: string;
  readonly maxRequestBytes?: number;
  readonly maxSessions?: number;
  newId(): string;
  /** Gets what tells subscribers of the version without sessions that a list changed. Returns what stops the telling. */
  announce?(notify: ServerNotifier): () => void;
  onError(error: Error): void;
}

export interface HttpFront {
  readonly url: string;
  /** Ends every session and connection. Idempotent. */
  close(): Promise<void>;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

function tokenCheck(token: string | undefined): (request: IncomingMessage) => boolean {
  if (token === undefined) return () => true;
  const expected = digest(`Bearer ${token}`);
  return ({ headers }) => timingSafeEqual(digest(headers.authorization?.replace(/^bearer +/i, 'Bearer ') ?? ''), expected);
}

function refuse(response: ServerResponse, status: number, message: string, headers: Readonly<Record<string, string>> = {}): void {
  // A body that nobody reads would keep the connection.
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers });
  response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_000, message } }));
}

/** Behind a wildcard every name may be right: there the token is what counts. */
function namesOf(host: string): readonly string[] | undefined {
  if (host === '0.0.0.0' || host === '::') return undefined;
  return [...localhostAllowedHostnames(), host.includes(':') ? `[${host}]` : host];
}

function listen(server: ReturnType<typeof createServer>, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

/**
 * Streamable HTTP at `/mcp`: the current version without sessions, the older ones with. In this order a
 * request is looked at: path, Host, Origin, token, size, protocol. Rejects with the system's error where
 * the address cannot be listened at.
 */
export async function serveHttp(factory: McpServerFactory, options: ServeHttpOptions): Promise<HttpFront> {
  const maxRequestBytes = options.maxRequestBytes ?? MAX_REQUEST_BYTES;
  const { onError } = options;
  const modern = createMcpHandler(factory, {
    legacy: 'reject',
    maxRequestBodySize: maxRequestBytes,
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    onerror: onError,
  });
  const sessions = createSessions(factory, {
    maxRequestBytes,
    newId: options.newId,
    now: Date.now,
    onError,
    ...(options.maxSessions !== undefined && { maxSessions: options.maxSessions }),
  });
  const stopTelling = options.announce?.(modern.notify);
  const fetch = async (request: Request): Promise<Response> => {
    const isLegacy = await isLegacyRequest(request, undefined, { maxRequestBodySize: maxRequestBytes });
    return isLegacy ? sessions.handle(request) : modern.fetch(request);
  };
  const answer = toNodeHandler({ fetch }, { maxRequestBodySize: maxRequestBytes, onerror: onError });
  const names = namesOf(options.host);
  const checkHost = names === undefined ? () => true : hostHeaderValidation([...names]);
  const checkOrigin = originValidation([...localhostAllowedOrigins(), ...(names ?? [])]);
  const checkToken = tokenCheck(options.token);

  const server = createServer((request, response) => {
    response.on('error', onError);
    const path = request.url?.split('?')[0];
    if (path !== MCP_PATH) return refuse(response, 404, `nothing is served here; the server is at ${MCP_PATH}`);
    if (!checkHost(request, response) || !checkOrigin(request, response)) return;
    if (!checkToken(request)) {
      return refuse(response, 401, 'this server needs its token: Authorization: Bearer <token>', { 'www-authenticate': 'Bearer' });
    }
    void answer(request as Parameters<typeof answer>[0], response as Parameters<typeof answer>[1]);
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const address = await listen(server, options.host, options.port);

  const closeAll = async (): Promise<void> => {
    stopTelling?.();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    await Promise.all([modern.close(), sessions.close()]);
    server.closeIdleConnections();
    const timer = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS);
    await closed;
    clearTimeout(timer);
  };
  let closing: Promise<void> | undefined;
  const shown = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${shown}:${address.port}${MCP_PATH}`,
    close: () => {
      closing ??= closeAll();
      return closing;
    },
  };
}
