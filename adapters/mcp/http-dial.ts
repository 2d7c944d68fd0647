import type { HttpClient, HttpResponse } from '../../ports/http.ts';
import { TransportFault } from './faults.ts';
import { nextLocation } from './http-headers.ts';

/** What a server wants to see before it answers. */
export interface McpAuthorization {
  /** The bearer token of the next request; undefined for none. */
  token(signal: AbortSignal): Promise<string | undefined> | string | undefined;
  /** After a 401, or a 403 for want of a scope: true when `token` now gives another one, and the request is sent once more. */
  renew?(challenge: McpChallenge, signal: AbortSignal): Promise<boolean>;
}

export interface McpChallenge {
  readonly status: number;
  readonly url: string;
  /** The header `www-authenticate` as it came. */
  readonly wwwAuthenticate: string | undefined;
}

export interface HttpAccess {
  readonly http: HttpClient;
  readonly authorization?: McpAuthorization | undefined;
}

export interface DialOptions extends HttpAccess {
  readonly url: string;
  /** Headers that each request has for now. */
  readonly common: () => Readonly<Record<string, string>>;
  /** Ends what is done for all requests together. */
  readonly lifetime: AbortSignal;
}

/** Sends one request; follows what the server moved within its own origin, and renews credentials once. */
export type Dial = (
  method: string,
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
  signal: AbortSignal,
) => Promise<HttpResponse>;

const MAX_REDIRECTS = 5;

export function createDial({ http, authorization, url: first, common, lifetime }: DialOptions): Dial {
  let url = first;
  let renewing: Promise<boolean> | undefined;

  /** Credentials are renewed once for all requests that were refused with the same token. */
  const renew = async (response: HttpResponse, used: string | undefined): Promise<boolean> => {
    response.cancel();
    if ((await authorization?.token(lifetime)) !== used) return true;
    const challenge = { status: response.status, url, wwwAuthenticate: response.headers['www-authenticate'] };
    renewing ??= (authorization?.renew?.(challenge, lifetime) ?? Promise.resolve(false)).finally(() => {
      renewing = undefined;
    });
    return renewing;
  };

  return async (method, more, body, signal) => {
    let renewed = false;
    for (let hops = 0; ; hops += 1) {
      const token = await authorization?.token(signal);
      const headers = { ...common(), ...more, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
      const response = await http.request({ method, url, headers, ...(body === undefined ? {} : { body }) }, signal);
      const next = nextLocation(response, url);
      if (next !== undefined && hops < MAX_REDIRECTS) {
        response.cancel();
        url = next;
      } else if (!renewed && isChallenge(response) && authorization?.renew !== undefined) {
        renewed = true;
        if (!(await renew(response, token))) throw new TransportFault({ kind: 'unauthorized', status: response.status });
      } else return response;
    }
  };
}

function isChallenge({ status, headers }: HttpResponse): boolean {
  return status === 401 || (status === 403 && /insufficient_scope/.test(headers['www-authenticate'] ?? ''));
}
