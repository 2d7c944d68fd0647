import type { LookupAddress } from 'node:dns';
import { lookup as dnsLookup } from 'node:dns/promises';
import type { ClientRequest } from 'node:http';
import { CancelledError } from '../../ports/errors.ts';
import type { HttpClient, HttpRequest } from '../../ports/http.ts';
import { HttpError } from '../../ports/http.ts';
import type { Connect, Open } from './connection.ts';
import type { Destination, Resolve } from './destination.ts';
import { guardedRule, operatorRule } from './destination.ts';
import { toHttpError } from './errors.ts';
import { awaitResponse } from './exchange.ts';
import { createLines, type LineOptions } from './lines.ts';

export { hostPort } from './destination.ts';
export { proxyVariable } from './proxy-variable.ts';

interface SharedOptions {
  /** `host:port` entries, IPv6 in brackets. `operator`: all that can be reached. `guarded`: exempt from the address check. */
  readonly allowHosts?: readonly string[];
  /** Replaces the system's resolver. */
  readonly resolve?: Resolve;
  /** Replaces the system's way to open a connection; gets the address that was checked. */
  readonly connect?: Connect;
  /** PEM certificates trusted beside the system's. */
  readonly certificates?: string;
  /**
   * The operator's proxy, `http://[user:password@]host:port`. In operator mode it is given names. In guarded
   * mode it is told to connect to the address that was checked, and resolves nothing.
   */
  readonly proxy?: string;
}

export type HttpClientOptions =
  | (SharedOptions & { readonly mode: 'operator' })
  | (SharedOptions & {
      readonly mode: 'guarded';
      /** Name of an environment variable that names a proxy: unless the operator configured one, every request is refused. */
      readonly environmentProxy?: string;
    });

const MAX_HEADER_BYTES = 64 * 1024;
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
  const lines = createLines(lineOptions(options));
  const refusal = refusalOf(options);
  let closed = false;
  return {
    async request(request, signal) {
      if (signal.aborted) throw new CancelledError();
      if (closed) throw new HttpError('network', 'the HTTP client is closed');
      const url = parseUrl(request);
      const destination = rule(url);
      if (refusal !== undefined) throw new HttpError('proxy_refused', refusal, { value: destination.host });
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

function lineOptions({ mode, proxy, connect, certificates }: HttpClientOptions): LineOptions {
  const kind = mode === 'guarded' ? 'pinned' : 'forward';
  return { via: proxy === undefined ? { kind: 'direct' } : { kind, proxy }, connect, certificates };
}

/** Going past a proxy that the environment demands, or through one that nobody chose for this, are both wrong. */
function refusalOf(options: HttpClientOptions): string | undefined {
  if (options.mode === 'operator' || options.environmentProxy === undefined || options.proxy !== undefined) return undefined;
  return `nothing was sent: the environment variable ${options.environmentProxy} names a proxy, and tools use none that the operator did not configure; ways out: unset it, or set network.proxy to an http://host:port address, or to "none" to connect directly`;
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
