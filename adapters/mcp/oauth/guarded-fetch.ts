import type { HttpClient } from '../../../ports/http.ts';
import { readBounded } from '../http-body.ts';

/** A metadata document, a registration or a set of tokens. */
const MAX_BYTES = 1024 * 1024;
const REQUEST_MS = 30_000;
const WITHOUT_BODY = new Set([204, 205, 304]);

export type Fetch = (input: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * The part of `fetch` that the protocol's authorization needs, over the guarded client: nothing is followed, at most
 * 1 MiB is read, 30 s a request. What fails is a `TypeError` with its cause, as it is for every fetch; the protocol's
 * code takes other errors for an answer.
 */
export function guardedFetch(http: HttpClient, signal: AbortSignal): Fetch {
  return async (input, init = {}) => {
    const until = AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS), ...(init.signal ? [init.signal] : [])]);
    const headers = Object.fromEntries(new Headers(init.headers).entries());
    const body = init.body === undefined || init.body === null ? {} : { body: String(init.body) };
    try {
      const response = await http.request({ method: init.method ?? 'GET', url: String(input), headers, ...body }, until);
      const { text } = await readBounded(response, MAX_BYTES);
      const { status } = response;
      return new Response(WITHOUT_BODY.has(status) ? null : text, { status, headers: { ...response.headers } });
    } catch (cause) {
      throw new TypeError('fetch failed', { cause });
    }
  };
}
