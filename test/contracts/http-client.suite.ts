import assert from 'node:assert/strict';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../../ports/errors.ts';
import type { HttpClient, HttpRequest, HttpResponse } from '../../ports/http.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

export interface HttpClientHarness {
  /** A client that may reach the listed `host:port` and no other address of this machine. */
  make(allowHosts: readonly string[]): Promise<HttpClient>;
}

/** Generous: only a hang is longer. */
const PROMPT_MS = 2_500;

interface Stage {
  readonly client: HttpClient;
  readonly url: string;
  /** Requests that reached the server. */
  seen(): readonly { readonly method: string; readonly headers: IncomingMessage['headers']; readonly body: string }[];
  /** Waits until no socket is open. */
  closed(): Promise<void>;
}

async function onStage(harness: HttpClientHarness, use: (stage: Stage) => Promise<void>): Promise<void> {
  const seen: { method: string; headers: IncomingMessage['headers']; body: string }[] = [];
  let sockets = 0;
  const server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    incoming.once('end', () => {
      seen.push({ method: incoming.method ?? '', headers: incoming.headers, body });
      answer(incoming, outgoing);
    });
  });
  server.on('connection', (socket) => {
    sockets += 1;
    socket.on('close', () => {
      sockets -= 1;
    });
  });
  const host = await listen(server);
  const client = await harness.make([host, 'localhost:1']);
  try {
    await use({
      client,
      url: `http://${host}`,
      seen: () => seen,
      async closed() {
        for (let waited = 0; sockets > 0; waited += 20) {
          assert.ok(waited < PROMPT_MS, 'the socket is closed');
          await delay(20);
        }
      },
    });
  } finally {
    await client.close();
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { pathname } = new URL(incoming.url ?? '/', 'http://x');
  if (pathname.startsWith('/status/')) outgoing.writeHead(Number(pathname.slice(8))).end('explained');
  else if (pathname === '/redirect') outgoing.writeHead(302, { location: '/status/200' }).end();
  else if (pathname === '/headers')
    outgoing
      .writeHead(
        200,
        [
          ['X-Odd', 'a'],
          ['x-odd', 'b'],
          ['Set-Cookie', 'c=1'],
          ['Set-Cookie', 'd=2'],
        ].flat(),
      )
      .end();
  else if (pathname === '/slow-body') outgoing.writeHead(200).write('first');
  else if (pathname === '/broken-body') {
    outgoing.writeHead(200, { 'content-length': '100' });
    outgoing.write('part', () => outgoing.destroy());
  } else if (pathname !== '/silent') outgoing.writeHead(200).end('ok');
}

function get(url: string, more: Partial<HttpRequest> = {}): HttpRequest {
  return { method: 'GET', url, headers: {}, ...more };
}

async function text(response: HttpResponse): Promise<string> {
  const decoder = new TextDecoder();
  let whole = '';
  for await (const chunk of response.body) whole += decoder.decode(chunk, { stream: true });
  return whole;
}

const never = (): AbortSignal => new AbortController().signal;

async function failureOf(run: Promise<unknown>): Promise<{ readonly code?: string; readonly name?: string; readonly message: string }> {
  const timeout = new AbortController();
  const late = delay(PROMPT_MS, undefined, { signal: timeout.signal }).then(() => assert.fail(`it fails within ${PROMPT_MS} ms`));
  late.catch(() => undefined);
  const failed = run.then(
    () => assert.fail('it should have failed'),
    (error: Error) => error,
  );
  return Promise.race([failed, late]).finally(() => timeout.abort());
}

const cases: ContractCase<HttpClientHarness>[] = [
  {
    id: 'http-client/any-status',
    sentence: 'A response of any status is returned, never thrown.',
    run: (harness) =>
      onStage(harness, async ({ client, url }) => {
        for (const status of [200, 404, 429, 500]) {
          const response = await client.request(get(`${url}/status/${status}`), never());
          assert.equal(response.status, status);
          assert.equal(await text(response), 'explained');
        }
      }),
  },
  {
    id: 'http-client/no-redirect',
    sentence: 'Redirects are not followed.',
    run: (harness) =>
      onStage(harness, async ({ client, url, seen }) => {
        const response = await client.request(get(`${url}/redirect`), never());
        await text(response);
        assert.equal(response.status, 302);
        assert.equal(response.headers.location, '/status/200');
        assert.equal(seen().length, 1);
      }),
  },
  {
    id: 'http-client/header-form',
    sentence: 'Header names are lower-case; repeated headers are joined by ", ".',
    run: (harness) =>
      onStage(harness, async ({ client, url }) => {
        const response = await client.request(get(`${url}/headers`), never());
        await text(response);
        assert.equal(response.headers['x-odd'], 'a, b');
        assert.equal(response.headers['set-cookie'], 'c=1, d=2');
      }),
  },
  {
    id: 'http-client/body-in-order',
    sentence: 'Chunks are sent in order with one content-length.',
    run: (harness) =>
      onStage(harness, async ({ client, url, seen }) => {
        const body = ['{"a":', '"ü', '"}'].map((part) => new TextEncoder().encode(part));
        await text(await client.request(get(url, { method: 'POST', headers: { 'X-Own': '1' }, body }), never()));
        await text(await client.request(get(url, { method: 'PUT', body: 'ü' }), never()));
        const [first, second] = seen();
        assert.deepEqual(
          [first?.method, first?.body, first?.headers['content-length'], first?.headers['x-own']],
          ['POST', '{"a":"ü"}', '10', '1'],
        );
        assert.equal(first?.headers['transfer-encoding'], undefined);
        assert.deepEqual([second?.method, second?.body, second?.headers['content-length']], ['PUT', 'ü', '2']);
      }),
  },
  {
    id: 'http-client/failure-is-typed',
    sentence: 'Failures reject with `HttpError`.',
    run: (harness) =>
      onStage(harness, async ({ client, url }) => {
        const refused = await failureOf(client.request(get('http://localhost:1/'), never()));
        assert.deepEqual([refused.name, refused.code], ['HttpError', 'connection_refused']);
        const malformed = await failureOf(client.request(get('not a url'), never()));
        assert.deepEqual([malformed.name, malformed.code], ['HttpError', 'invalid_url']);
        const broken = await failureOf(client.request(get(`${url}/broken-body`), never()).then(text));
        assert.deepEqual([broken.name, broken.code], ['HttpError', 'connection_reset']);
      }),
  },
  {
    id: 'http-client/no-address-in-errors',
    sentence: 'The text of a failure never holds a resolved address.',
    run: (harness) =>
      onStage(harness, async ({ client }) => {
        const error = await failureOf(client.request(get('http://localhost:1/'), never()));
        for (let at: unknown = error; at instanceof Error; at = at.cause)
          assert.doesNotMatch(`${at.message} ${at.stack}`, /127\.0\.0\.1|::1/);
      }),
  },
  {
    id: 'http-client/abort-request',
    sentence: 'When `signal` fires, the request rejects with `CancelledError` and the socket is closed.',
    run: (harness) =>
      onStage(harness, async ({ client, url, seen, closed }) => {
        const cancel = new AbortController();
        const pending = failureOf(client.request(get(`${url}/silent`), cancel.signal));
        while (seen().length === 0) await delay(5);
        cancel.abort();
        assert.ok(hasCode(await pending, 'cancelled'));
        await closed();
        assert.ok(hasCode(await failureOf(client.request(get(url), AbortSignal.abort())), 'cancelled'));
        assert.equal(seen().length, 1);
      }),
  },
  {
    id: 'http-client/abort-body',
    sentence: 'When `signal` fires, the body read rejects with `CancelledError` and the socket is closed.',
    run: (harness) =>
      onStage(harness, async ({ client, url, closed }) => {
        const cancel = new AbortController();
        const response = await client.request(get(`${url}/slow-body`), cancel.signal);
        const pending = failureOf(text(response));
        await delay(20);
        cancel.abort();
        assert.ok(hasCode(await pending, 'cancelled'));
        await closed();
      }),
  },
  {
    id: 'http-client/cancel-body',
    sentence: '`cancel` gives a body up and closes its socket.',
    run: (harness) =>
      onStage(harness, async ({ client, url, closed }) => {
        const response = await client.request(get(`${url}/slow-body`), never());
        response.cancel();
        await closed();
      }),
  },
  {
    id: 'http-client/headers-limit',
    sentence: 'Response headers must have arrived within `headersTimeoutMs`.',
    run: (harness) =>
      onStage(harness, async ({ client, url, closed }) => {
        const error = await failureOf(client.request(get(`${url}/silent`, { headersTimeoutMs: 50 }), never()));
        assert.deepEqual([error.name, error.code], ['HttpError', 'headers_timeout']);
        await closed();
      }),
  },
  {
    id: 'http-client/refused-host',
    sentence: 'A host that is not allowed is refused before anything is sent.',
    run: async (harness) => {
      let touched = 0;
      const forbidden = createServer((_incoming, outgoing) => outgoing.end());
      forbidden.on('connection', () => {
        touched += 1;
      });
      const host = await listen(forbidden);
      try {
        await onStage(harness, async ({ client }) => {
          const error = await failureOf(client.request(get(`http://${host}/`), never()));
          assert.deepEqual([error.name, error.code], ['HttpError', 'host_refused']);
          assert.equal(touched, 0);
        });
      } finally {
        await new Promise<void>((resolve) => {
          forbidden.close(() => resolve());
        });
      }
    },
  },
  {
    id: 'http-client/close',
    sentence: '`close` is idempotent, and nothing is sent afterwards.',
    run: (harness) =>
      onStage(harness, async ({ client, url, seen, closed }) => {
        await text(await client.request(get(url), never()));
        await client.close();
        await client.close();
        await closed();
        assert.equal((await failureOf(client.request(get(url), never()))).name, 'HttpError');
        assert.equal(seen().length, 1);
      }),
  },
];

export const httpClientSuite: ContractSuite<HttpClientHarness> = { port: 'http-client', cases };
