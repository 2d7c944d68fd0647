import { type HttpClient, HttpError, type HttpResponse } from '../../ports/http.ts';
import { isSameHost, targetOf } from './target.ts';

export const MAX_REDIRECTS = 10;
export const TIMEOUT_MS = 30_000;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const MAX_SHOWN_URL = 2000;

export interface WebRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** Where a request ended. `fault` tells why a redirect was not followed; the response is then the redirect. */
export interface Reply {
  readonly url: URL;
  readonly response: HttpResponse;
  readonly fault?: string;
}

/**
 * Sends a request and follows at most ten redirects within its host; each hop goes through the
 * guarded client again. A redirect to another host is given back instead: that host was not part of
 * what core judged, and asking for it in a call of its own has it judged. The body of the reply is unread.
 * Throws {@link HttpError} and `CancelledError`.
 */
export async function fetchPage(http: HttpClient, first: WebRequest, signal: AbortSignal): Promise<Reply> {
  let request = first;
  for (let hop = 0; ; hop += 1) {
    const { method, url, headers } = request;
    const response = await http.request({ method, url: url.href, headers, headersTimeoutMs: TIMEOUT_MS }, signal);
    const location = response.headers.location;
    if (!REDIRECTS.has(response.status) || location === undefined) return { url, response };
    response.cancel();
    const next = nextTarget(location, url);
    if (typeof next === 'string') return { url, response, fault: next };
    if (hop === MAX_REDIRECTS) return { url, response, fault: `more than ${MAX_REDIRECTS} redirects` };
    request = { method: methodAfter(response.status, method), url: next, headers };
  }
}

function nextTarget(location: string, from: URL): URL | string {
  try {
    const to = targetOf(location, from);
    if (isSameHost(from, to)) return to;
    return `it redirects to another host, which is not followed; to go there, ask for ${to.href.slice(0, MAX_SHOWN_URL)}`;
  } catch (error) {
    if (error instanceof HttpError) return `it redirects to a place that cannot be asked: ${error.message}`;
    throw error;
  }
}

/** As browsers do: what answers with "see other", or moves a POST, is then read. */
function methodAfter(status: number, method: string): string {
  if (method === 'HEAD') return method;
  return status === 303 || (method === 'POST' && (status === 301 || status === 302)) ? 'GET' : method;
}

/** The whole body, or undefined when it is longer than `limit` bytes: reading stops there. */
export async function readBody({ body, cancel }: HttpResponse, limit: number): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) {
      cancel();
      return undefined;
    }
    chunks.push(chunk);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
