import { request as httpRequest } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpFront, type ServeHttpOptions, serveHttp } from '../../../hosts/mcp/http.ts';
import { serverFactory } from '../../../hosts/mcp/server.ts';
import { type FakeServed, fakeServed } from './served.ts';

const TOKEN = 'a-token-of-some-length';
const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

interface Served {
  readonly front: HttpFront;
  readonly tools: FakeServed;
}

let ids = 0;

async function serve(options: Partial<ServeHttpOptions> = {}): Promise<Served> {
  const tools = fakeServed({ echo: (given) => JSON.stringify(given), hold: () => '' });
  const front = await serveHttp(serverFactory(tools), {
    host: '127.0.0.1',
    port: 0,
    token: TOKEN,
    newId: () => {
      ids += 1;
      return `session-${ids}`;
    },
    announce: (notify) => tools.onChange(() => notify.toolsChanged()),
    onError: () => {},
    ...options,
  });
  open.push(() => front.close());
  return { front, tools };
}

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** A request with exactly these headers, which `fetch` would not let pass. */
function post(url: string, body: string, headers: Readonly<Record<string, string>> = {}, method = 'POST'): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      {
        method,
        headers: {
          authorization: `Bearer ${TOKEN}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
        response.on('error', reject);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

const message = (id: number, method: string, params: object = {}): string => JSON.stringify({ jsonrpc: '2.0', id, method, params });

async function newSession({ front }: Served): Promise<string> {
  const { status, headers } = await post(front.url, INITIALIZE);
  expect(status).toBe(200);
  return String(headers['mcp-session-id']);
}

async function connect({ front }: Served, mode: 'legacy' | { readonly pin: string }): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(front.url), { requestInit }));
  open.push(() => client.close());
  return client;
}

describe('the server over HTTP', () => {
  it('serves clients with a session and clients without one', async () => {
    const served = await serve();
    for (const mode of ['legacy', { pin: '2026-07-28' }] as const) {
      const client = await connect(served, mode);
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo', 'hold']);
      const result = await client.callTool({ name: 'echo', arguments: { a: 1 } });
      expect(result.content).toEqual([{ type: 'text', text: '{"a":1}' }]);
    }
  });

  it('wants its token, and tells nothing to whoever has another one or none', async () => {
    const { front } = await serve();
    for (const authorization of ['', 'Bearer ', 'Bearer wrong', TOKEN, `Basic ${TOKEN}`]) {
      const { status, headers, body } = await post(front.url, INITIALIZE, { authorization });
      expect([authorization, status, headers['www-authenticate']]).toEqual([authorization, 401, 'Bearer']);
      expect(body).not.toContain('protocolVersion');
    }
    expect((await post(front.url, INITIALIZE, { authorization: `bearer ${TOKEN}` })).status).toBe(200);
  });

  it('refuses names of other hosts and pages of other origins, also with the token', async () => {
    const { front } = await serve();
    const { port } = new URL(front.url);
    expect((await post(front.url, INITIALIZE, { host: `evil.example:${port}` })).status).toBe(403);
    expect((await post(front.url, INITIALIZE, { origin: 'https://evil.example' })).status).toBe(403);
    expect((await post(front.url, INITIALIZE, { origin: 'null' })).status).toBe(403);
    expect((await post(front.url, INITIALIZE, { host: `localhost:${port}`, origin: `http://localhost:${port}` })).status).toBe(200);
  });

  it('serves one path', async () => {
    const { front } = await serve();
    expect((await post(front.url.replace('/mcp', '/other'), INITIALIZE)).status).toBe(404);
  });

  it('refuses a body over the limit, declared or not, and serves the next', async () => {
    const { front } = await serve({ maxRequestBytes: 2_000 });
    const large = message(1, 'ping', { filler: 'x'.repeat(5_000) });
    expect((await post(front.url, large)).status).toBe(413);
    expect((await post(front.url, large, { 'transfer-encoding': 'chunked' })).status).toBe(413);
    expect((await post(front.url, INITIALIZE)).status).toBe(200);
  });

  it('answers what is no JSON with a parse error', async () => {
    const { front } = await serve();
    const { status, body } = await post(front.url, '{"jsonrpc":');
    expect(status).toBe(400);
    expect(body).toContain('-32700');
  });

  it('wants a session of those versions that have them, and forgets one that is ended', async () => {
    const served = await serve();
    const { url } = served.front;
    expect((await post(url, message(1, 'tools/list'))).status).toBe(400);
    expect((await post(url, message(1, 'tools/list'), { 'mcp-session-id': 'unknown' })).status).toBe(404);
    const session = await newSession(served);
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
    expect((await post(url, message(2, 'tools/list'), headers)).body).toContain('echo');
    expect((await post(url, '', headers, 'DELETE')).status).toBe(200);
    expect((await post(url, message(3, 'tools/list'), headers)).status).toBe(404);
  });

  it('ends the session that was idle longest when there are too many, and never one with a call under way', async () => {
    const served = await serve({ maxSessions: 2 });
    const first = await newSession(served);
    const second = await newSession(served);
    const held = post(served.front.url, message(2, 'tools/call', { name: 'hold' }), { 'mcp-session-id': first });
    held.catch(() => {});
    await expect.poll(() => served.tools.signals.length).toBe(1);
    const third = await newSession(served);
    const list = (session: string) => post(served.front.url, message(3, 'tools/list'), { 'mcp-session-id': session });
    expect((await list(first)).status).toBe(200);
    expect((await list(second)).status).toBe(404);
    expect((await list(third)).status).toBe(200);
    expect(served.tools.signals[0]?.aborted).toBe(false);
    const heldToo = post(served.front.url, message(4, 'tools/call', { name: 'hold' }), { 'mcp-session-id': third });
    heldToo.catch(() => {});
    await expect.poll(() => served.tools.signals.length).toBe(2);
    const refused = await post(served.front.url, INITIALIZE);
    expect(refused.status).toBe(503);
    expect(refused.body).toContain('the limit is 2');
  });

  it('cancels a call without a session when its client goes away', async () => {
    const served = await serve();
    const client = await connect(served, { pin: '2026-07-28' });
    const cancel = new AbortController();
    const call = client.callTool({ name: 'hold', arguments: {} }, { signal: cancel.signal });
    call.catch(() => {});
    await expect.poll(() => served.tools.signals.length).toBe(1);
    cancel.abort();
    await expect.poll(() => served.tools.signals[0]?.aborted).toBe(true);
  });

  it('tells clients of both kinds that the tools changed', async () => {
    const served = await serve();
    const told: string[] = [];
    const old = await connect(served, 'legacy');
    old.setNotificationHandler('notifications/tools/list_changed', () => void told.push('old'));
    const current = await connect(served, { pin: '2026-07-28' });
    current.setNotificationHandler('notifications/tools/list_changed', () => void told.push('current'));
    await current.listen({ toolsListChanged: true });
    await expect
      .poll(() => {
        served.tools.add(`more-${told.length}`);
        return [...new Set(told)].sort();
      })
      .toEqual(['current', 'old']);
  });

  it('cancels what is under way when it ends, and listens no more', async () => {
    const served = await serve();
    const session = await newSession(served);
    const held = post(served.front.url, message(2, 'tools/call', { name: 'hold' }), { 'mcp-session-id': session });
    held.catch(() => {});
    await expect.poll(() => served.tools.signals.length).toBe(1);
    await served.front.close();
    expect(served.tools.signals[0]?.aborted).toBe(true);
    await expect(post(served.front.url, INITIALIZE)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('says what stands in the way when it cannot listen', async () => {
    const { front } = await serve();
    await expect(serve({ port: Number(new URL(front.url).port) })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
