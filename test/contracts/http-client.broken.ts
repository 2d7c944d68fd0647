import { createHttpClient } from '../../adapters/http/index.ts';
import type { HttpClient, HttpRequest, HttpResponse } from '../../ports/http.ts';
import { HttpError } from '../../ports/http.ts';
import type { HttpClientHarness } from './http-client.suite.ts';
import type { BrokenAdapter } from './suite.ts';

/** The operator client, made wrong. */
function wrap(change: (client: HttpClient, allowHosts: readonly string[]) => Partial<HttpClient>): HttpClientHarness {
  return {
    async make(allowHosts) {
      const client = createHttpClient({ mode: 'operator', allowHosts });
      return { ...client, ...change(client, allowHosts) };
    },
  };
}

function mapResponse(
  map: (response: HttpResponse, client: HttpClient, request: HttpRequest) => HttpResponse | Promise<HttpResponse>,
): HttpClientHarness {
  return wrap((client) => ({ request: async (request, signal) => map(await client.request(request, signal), client, request) }));
}

const deaf = (): AbortSignal => new AbortController().signal;

export const brokenHttpClients: readonly BrokenAdapter<HttpClientHarness>[] = [
  {
    name: 'throws on a failing status',
    caughtBy: 'http-client/any-status',
    harness: mapResponse((response) => {
      if (response.status >= 400) throw new HttpError('network', 'status');
      return response;
    }),
  },
  {
    name: 'follows redirects',
    caughtBy: 'http-client/no-redirect',
    harness: mapResponse(async (response, client, request) => {
      const { location } = response.headers;
      return location === undefined ? response : client.request({ ...request, url: new URL(location, request.url).href }, deaf());
    }),
  },
  {
    name: 'keeps only the last of repeated headers',
    caughtBy: 'http-client/header-form',
    harness: mapResponse((response) => {
      const last = (value: string): string => value.split(', ').at(-1) ?? '';
      return { ...response, headers: Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, last(value)])) };
    }),
  },
  {
    name: 'sends the chunks in another order',
    caughtBy: 'http-client/body-in-order',
    harness: wrap((client) => ({
      request: (request, signal) =>
        client.request(Array.isArray(request.body) ? { ...request, body: [...request.body].reverse() } : request, signal),
    })),
  },
  {
    name: 'lets plain errors through',
    caughtBy: 'http-client/failure-is-typed',
    harness: wrap((client) => ({
      request: (request, signal) =>
        client.request(request, signal).catch(() => {
          throw new Error('fetch failed');
        }),
    })),
  },
  {
    name: 'tells where it tried to connect',
    caughtBy: 'http-client/no-address-in-errors',
    harness: wrap((client) => ({
      request: (request, signal) =>
        client.request(request, signal).catch((error: HttpError) => {
          throw new HttpError('connection_refused', error.message, { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') });
        }),
    })),
  },
  {
    name: 'ignores the signal while it waits for headers',
    caughtBy: 'http-client/abort-request',
    harness: wrap((client) => ({ request: (request) => client.request(request, deaf()) })),
  },
  {
    name: 'ignores the signal while it reads the body',
    caughtBy: 'http-client/abort-body',
    harness: wrap((client) => ({ request: (request) => client.request(request, deaf()) })),
  },
  {
    name: 'keeps the socket of a body that was given up',
    caughtBy: 'http-client/cancel-body',
    harness: mapResponse((response) => ({ ...response, cancel: () => undefined })),
  },
  {
    name: 'waits for headers without a limit',
    caughtBy: 'http-client/headers-limit',
    harness: wrap((client) => ({ request: ({ headersTimeoutMs: _, ...request }, signal) => client.request(request, signal) })),
  },
  {
    name: 'reaches every host',
    caughtBy: 'http-client/refused-host',
    harness: wrap(() => ({
      request: (request, signal) =>
        createHttpClient({ mode: 'operator', allowHosts: [new URL(request.url).host] }).request(request, signal),
    })),
  },
  {
    name: 'goes on after it was closed',
    caughtBy: 'http-client/close',
    harness: wrap(() => ({ close: async () => undefined })),
  },
];
