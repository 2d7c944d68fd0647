import type { LookupAddress } from 'node:dns';
import { lookup as dnsLookup } from 'node:dns/promises';
import type { Agent, ClientRequest, RequestOptions } from 'node:http';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { CancelledError } from '../../ports/errors.ts';
import type { HttpClient, HttpRequest } from '../../ports/http.ts';
import { HttpError } from '../../ports/http.ts';
import type { Destination, Resolve } from './destination.ts';
import { guardedRule, operatorRule } from './destination.ts';
import { toHttpError } from './errors.ts';
import { awaitResponse } from './exchange.ts';

export { hostPort } from './destination.ts';

interface SharedOptions {
  /** `host:port` entries, IPv6 in brackets. `operator`: all that can be reached. `guarded`: exempt from the address check. */
  readonly allowHosts?: readonly string[];
  /** Replaces the system's resolver. */
  readonly resolve?: Resolve;
  /** PEM certificates trusted beside the system's. */
  readonly certificates?: string;
}

/** A proxy exists in operator mode only: it resolves names itself, so that the address check would see nothing. */
export type HttpClientOptions =
  | (SharedOptions & { readonly mode: 'operator'; readonly proxy?: string })
  | (SharedOptions & { readonly mode: 'guarded'; readonly proxy?: never });

const MAX_HEADER_BYTES = 64 * 1024;
const AGENT_OPTIONS = { keepAlive: true, scheduling: 'lifo', maxSockets: 64, maxFreeSockets: 8 } as const;
/** Framing belongs to the client; a caller that sets these could smuggle a second request. */
const OWN_HEADERS = new Set(['connection', 'content-length', 'expect', 'host', 'keep-alive', 'transfer-encoding', 'upgrade']);
/** Pieces of a body that are not joined. */
const MAX_PIECES = 16;
const METHOD = /^[A-Z]{1,20}$/;

/**
 * HTTP over node's own client with kept-alive connections. `operator` reaches the configured hosts
 * and no other; `guarded` reaches public addresses and the configured hosts.
 * Throws `ConfigError` for a malformed `allowHosts` entry.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const resolve = options.resolve ?? resolveAll;
  const allowHosts = options.allowHosts ?? [];
  const rule = options.mode === 'operator' ? operatorRule(allowHosts, resolve) : guardedRule(allowHosts, resolve);
  const lines = createLines(options);
  let closed = false;
  return {
    async request(request, signal) {
      if (signal.aborted) throw new CancelledError();
      if (closed) throw new HttpError('network', 'the HTTP client is closed');
      const url = parseUrl(request);
      const destination = rule(url);
      const headers = checkHeaders(request);
      const open = await lines(url);
      if (signal.aborted) throw new CancelledError();
      const sent = startRequest({ open, url, destination, request, headers });
      const response = awaitResponse({ request: sent, host: destination.host, headersTimeoutMs: request.headersTimeoutMs, signal });
      sendBody(sent, request.body);
      return response;
    },
    async close() {
      closed = true;
      lines.close();
    },
  };
}

/** Starts a request on the right agent. */
type Open = (options: RequestOptions) => ClientRequest;

interface Lines {
  (url: URL): Promise<Open>;
  close(): void;
}

/** The two agents; TLS and proxy code is loaded when first needed, as it costs a third of a start. */
function createLines(options: HttpClientOptions): Lines {
  const agents: Agent[] = [new HttpAgent(AGENT_OPTIONS)];
  let secure: Promise<Open> | undefined;
  const openSecure = async (): Promise<Open> => {
    const { Agent: HttpsAgent, request } = await import('node:https');
    const tls = options.certificates === undefined ? AGENT_OPTIONS : { ...AGENT_OPTIONS, ca: await trustedWith(options.certificates) };
    let agent: Agent;
    if (options.proxy === undefined) agent = new HttpsAgent(tls);
    else {
      const proxy = await import('./proxy.ts');
      agent = proxy.createTunnelAgent(proxy.parseProxy(options.proxy), tls);
    }
    agents.push(agent);
    return (target) => request({ ...target, agent });
  };
  const openPlain = async (url: URL): Promise<Open> => {
    const agent = agents[0] as Agent;
    if (options.proxy === undefined) return (target) => httpRequest({ ...target, agent });
    const { parseProxy, proxyHeaders } = await import('./proxy.ts');
    const proxy = parseProxy(options.proxy);
    return (target) =>
      httpRequest({
        ...target,
        agent,
        host: proxy.hostname,
        port: proxy.port || 80,
        path: url.href,
        headers: { ...(target.headers as Record<string, string>), host: url.host, ...proxyHeaders(proxy) },
      });
  };
  const lines = (url: URL): Promise<Open> => {
    if (url.protocol === 'http:') return openPlain(url);
    secure ??= openSecure();
    return secure;
  };
  return Object.assign(lines, { close: () => agents.forEach((agent) => void agent.destroy()) });
}

async function trustedWith(certificates: string): Promise<string[]> {
  const { rootCertificates } = await import('node:tls');
  return [...rootCertificates, certificates];
}

interface Start {
  readonly open: Open;
  readonly url: URL;
  readonly destination: Destination;
  readonly request: HttpRequest;
  readonly headers: Readonly<Record<string, string>>;
}

function startRequest({ open, url, destination, request, headers }: Start): ClientRequest {
  try {
    return open({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port || (url.protocol === 'https:' ? 443 : 80),
      path: `${url.pathname}${url.search}`,
      method: request.method,
      headers: { ...headers, ...contentLength(request.body) },
      maxHeaderSize: MAX_HEADER_BYTES,
      lookup: (hostname, options, callback) => {
        destination.resolve(hostname).then(
          (addresses) => answerLookup(addresses, options, callback),
          (error: NodeJS.ErrnoException) => callback(error, []),
        );
      },
    });
  } catch (error) {
    throw toHttpError(error, destination.host);
  }
}

type LookupCallback = (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void;

function answerLookup(addresses: readonly LookupAddress[], options: { all?: boolean | undefined }, callback: LookupCallback): void {
  const first = addresses[0];
  if (options.all === true) callback(null, [...addresses]);
  else if (first !== undefined) callback(null, first.address, first.family);
  else callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), []);
}

async function resolveAll(hostname: string): Promise<readonly LookupAddress[]> {
  return dnsLookup(hostname, { all: true });
}

function parseUrl(request: HttpRequest): URL {
  const url = URL.parse(request.url);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new HttpError('invalid_url', 'the URL must be absolute and start with http:// or https://', {
      value: url?.protocol ?? request.url.slice(0, 200),
      limit: 'http or https',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw new HttpError('invalid_url', `the URL of ${url.host} must not carry a user name or a password`, { value: url.host });
  }
  return url;
}

function checkHeaders(request: HttpRequest): Readonly<Record<string, string>> {
  if (!METHOD.test(request.method) || request.method === 'CONNECT') {
    throw new HttpError('invalid_request', `the method ${JSON.stringify(request.method.slice(0, 40))} is not supported`, {
      value: request.method.slice(0, 40),
      limit: 'an upper-case method other than CONNECT',
    });
  }
  for (const name of Object.keys(request.headers)) {
    if (OWN_HEADERS.has(name.toLowerCase())) {
      throw new HttpError('invalid_request', `the header ${name} is set by the client itself`, { value: name });
    }
  }
  return request.headers;
}

function contentLength(body: HttpRequest['body']): Record<string, string> {
  if (body === undefined) return {};
  if (typeof body === 'string') return { 'content-length': String(Buffer.byteLength(body)) };
  return { 'content-length': String(body.reduce((sum, chunk) => sum + chunk.byteLength, 0)) };
}

/** Large pieces are handed over one by one, since joining them would copy a long conversation for each request. */
function sendBody(sent: ClientRequest, body: HttpRequest['body']): void {
  if (body === undefined || typeof body === 'string') {
    sent.end(body);
    return;
  }
  const pieces = body.length <= MAX_PIECES ? body : [Buffer.concat(body)];
  sent.cork();
  for (const piece of pieces) if (piece.byteLength > 0) sent.write(piece);
  sent.end();
  sent.uncork();
}
