import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { McpAuthorization } from '../../../adapters/mcp/index.ts';
import type { McpConnection, McpHttpServer } from '../../../ports/mcp.ts';
import { type ScriptedHttpOptions, type ScriptedHttpServer, startScriptedHttp } from '../../mcp/servers/http.ts';
import { live, type McpSetup, setUpMcp, textOf, until } from './setup.ts';

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const work of cleanUp.splice(0).reverse()) await work();
});

function start(...options: Parameters<typeof setUpMcp>): McpSetup {
  const setup = setUpMcp(...options);
  cleanUp.push(setup.close);
  return setup;
}

async function serve(options: ScriptedHttpOptions = {}): Promise<ScriptedHttpServer> {
  const server = await startScriptedHttp(options);
  cleanUp.push(server.close);
  return server;
}

const call = (connection: McpConnection, tool: string, input: Readonly<Record<string, unknown>> = {}) =>
  connection.call(tool, input, { signal: live() });
const isCall = (message: unknown): boolean => (message as { method?: string } | undefined)?.method === 'tools/call';

async function connected(options: ScriptedHttpOptions = {}, more: Partial<McpHttpServer> = {}) {
  const server = await serve(options);
  const connection = await start().connect({ ...start().http(server.url), ...more });
  return { server, connection };
}

/** Answers with an event stream of exactly this text. */
function stream(response: ServerResponse, text: string): true {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).end(text);
  return true;
}

function answer(message: { id?: unknown } | undefined, text: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id: message?.id, result: { content: [{ type: 'text', text }] } });
}

describe('a reply as a stream of events', () => {
  const progress = 'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}\n\n';

  it('may bring notices, comments, an empty event and other kinds of events before the result', async () => {
    const { connection } = await connected({ before: `: hello\n\nid: 1\ndata:\n\nevent: other\ndata: {}\n\nevent: message\n${progress}` });
    expect(textOf(await call(connection, 'echo', { text: 'x' }))).toBe('x');
  });

  it('may hold a question of the server, which is answered', async () => {
    const { connection, server } = await connected();
    expect(textOf(await call(connection, 'pings'))).toBe('ponged');
    expect(server.seen.some(({ method }) => method === 'response')).toBe(true);
  });

  it('may spread the result over data lines, end lines in any way and lack its last empty line', async () => {
    for (const ending of ['\n', '\r\n', '\r']) {
      const { connection } = await connected({
        intercept(_request, response, message) {
          if (!isCall(message)) return false;
          const [head, tail] = answer(message, 'in pieces').split(',"result"');
          return stream(response, [`data: ${head}`, `data:,"result"${tail}`].join(ending) + ending);
        },
      });
      expect(textOf(await call(connection, 'echo'))).toBe('in pieces');
    }
  });

  it('brings its first result only, and is not asked for again', async () => {
    const { connection, server } = await connected({
      intercept: (_request, response, message) =>
        isCall(message) &&
        stream(
          response,
          `data: ${answer({ id: 'other' }, 'of another')}\n\ndata: ${answer(message, 'first')}\n\ndata: ${answer(message, 'second')}\n\n`,
        ),
    });
    expect(textOf(await call(connection, 'echo'))).toBe('first');
    expect(server.requests.filter(({ message }) => isCall(message))).toHaveLength(1);
  });

  it('that ends without a result fails the call, which is not sent again', async () => {
    const { connection, server } = await connected({
      intercept: (_request, response, message) => isCall(message) && stream(response, progress),
    });
    await expect(call(connection, 'echo')).rejects.toMatchObject({
      code: 'mcp_protocol_error',
      message: expect.stringContaining('without a result'),
    });
    expect(server.requests.filter(({ message }) => isCall(message))).toHaveLength(1);
  });

  it('is taken up where it broke off when its events have ids', async () => {
    let sent: { id?: unknown } | undefined;
    const { connection, server } = await connected({
      intercept(request, response, message) {
        if (request.headers['last-event-id'] === 'a1') return stream(response, `data: ${answer(sent, 'after all')}\n\n`);
        if (!isCall(message)) return false;
        sent = message;
        return stream(response, 'retry: 20\nid: a1\ndata:\n\n');
      },
    });
    expect(textOf(await call(connection, 'echo'))).toBe('after all');
    expect(server.requests.filter(({ message }) => isCall(message))).toHaveLength(1);
  });

  it('is taken up also when the connection broke', async () => {
    let sent: { id?: unknown } | undefined;
    const { connection } = await connected({
      intercept(request, response, message) {
        if (request.headers['last-event-id'] === 'b2') return stream(response, `data: ${answer(sent, 'mended')}\n\n`);
        if (!isCall(message)) return false;
        sent = message;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('retry: 20\nid: b2\ndata:\n\n', () => setTimeout(() => response.destroy(), 50));
        return true;
      },
    });
    expect(textOf(await call(connection, 'echo'))).toBe('mended');
  });

  it('does not hold up its result when the server leaves it open', async () => {
    const { connection, server } = await connected({
      intercept(_request, response, message) {
        if (!isCall(message)) return false;
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(`data: ${answer(message, 'already')}\n\n`);
        return true;
      },
    });
    expect(textOf(await call(connection, 'echo'))).toBe('already');
    await until(() => server.open() === 1);
  });
});

describe('a reply that is none', () => {
  it.each([
    ['text/html', '<html>', 'neither JSON nor a stream'],
    ['application/json', 'not json', 'not JSON-RPC'],
    ['application/json', '{"jsonrpc":"2.0","id":"other","result":{}}', 'without a result'],
    ['application/json', '[]', 'without a result'],
  ])('fails the call: %s %s', async (type, body, why) => {
    const { connection } = await connected({
      intercept(_request, response, message) {
        if (!isCall(message)) return false;
        response.writeHead(200, { 'content-type': type }).end(body);
        return true;
      },
    });
    await expect(call(connection, 'echo')).rejects.toMatchObject({ code: 'mcp_protocol_error', message: expect.stringContaining(why) });
  });

  it.each([400, 403, 500, 503])('of status %i is told with it, and the next call works', async (status) => {
    let broken = true;
    const { connection, server } = await connected({
      intercept(_request, response, message) {
        if (!isCall(message) || !broken) return false;
        broken = false;
        response.writeHead(status).end('overloaded');
        return true;
      },
    });
    await expect(call(connection, 'echo')).rejects.toMatchObject(
      status === 403
        ? { code: 'mcp_unauthorized', value: 403 }
        : { code: 'mcp_http_failed', value: status, message: expect.stringContaining('overloaded') },
    );
    expect(textOf(await call(connection, 'echo', { text: 'y' }))).toBe('y');
    expect(server.sessions.size).toBe(1);
  });

  it('of announced or streamed length over the limit is not read', async () => {
    for (const announced of [true, false]) {
      const { connection, server } = await connected(
        {
          intercept(_request, response, message) {
            if (!isCall(message)) return false;
            response.writeHead(200, { 'content-type': 'application/json', ...(announced ? { 'content-length': String(1024 ** 3) } : {}) });
            const timer = setInterval(() => response.write(Buffer.alloc(64 * 1024, 'x')), 1);
            response.on('close', () => clearInterval(timer));
            return true;
          },
        },
        { maxResponseBytes: 256 * 1024 },
      );
      await expect(call(connection, 'echo')).rejects.toMatchObject({ code: 'mcp_response_too_large', limit: 256 * 1024 });
      await until(() => server.open() === 1);
    }
  });
});

describe('a session that the server lost', () => {
  it('is renewed once for concurrent calls, and only repeatable ones are sent again', async () => {
    const { connection, server } = await connected();
    await connection.listTools(live());
    server.forget();
    const results = await Promise.allSettled([
      call(connection, 'echo', { text: 'a' }),
      call(connection, 'unsafe'),
      call(connection, 'echo', { text: 'b' }),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: 'mcp_session_lost', tool: 'unsafe', message: expect.stringContaining('unknown') } });
    expect(server.requests.filter(({ message }) => message?.method === 'initialize')).toHaveLength(2);
    expect(connection.report().restarts).toBe(1);
    expect(textOf(await call(connection, 'unsafe'))).toBe('1');
  });

  it('makes who listens list the tools again', async () => {
    const { connection, server } = await connected();
    let told = 0;
    connection.onToolsChanged(() => {
      told += 1;
    });
    server.forget();
    await expect(call(connection, 'unsafe')).rejects.toMatchObject({ code: 'mcp_session_lost' });
    await until(() => told === 1);
  });

  it('for ever is not renewed for ever', async () => {
    const { connection, server } = await connected({
      intercept(_request, response, message) {
        if (!isCall(message)) return false;
        response.writeHead(404).end();
        return true;
      },
    });
    await connection.listTools(live());
    await expect(call(connection, 'echo')).rejects.toMatchObject({ code: 'mcp_session_lost' });
    expect(server.requests.filter(({ message }) => message?.method === 'initialize')).toHaveLength(2);
    expect(server.requests.filter(({ message }) => isCall(message))).toHaveLength(2);
  });

  it('is known also by the 400 that many servers answer', async () => {
    let lost = true;
    const { connection } = await connected({
      intercept(_request, response, message) {
        if (!isCall(message) || !lost) return false;
        lost = false;
        response
          .writeHead(400, { 'content-type': 'application/json' })
          .end('{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}');
        return true;
      },
    });
    await connection.listTools(live());
    expect(textOf(await call(connection, 'echo', { text: 'z' }))).toBe('z');
    expect(connection.report().restarts).toBe(1);
  });

  it('is not what a 404 for the stream of notices means', async () => {
    const { connection } = await connected({
      intercept(request, response) {
        if (request.method !== 'GET') return false;
        response.writeHead(404).end();
        return true;
      },
    });
    expect(textOf(await call(connection, 'echo', { text: 'q' }))).toBe('q');
    expect(connection.report()).toMatchObject({ state: 'connected', restarts: 0 });
  });
});

describe('the end of a session', () => {
  it('is told by DELETE with its id', async () => {
    const { connection, server } = await connected();
    expect(server.sessions.size).toBe(1);
    await connection.close();
    expect(server.requests.at(-1)).toMatchObject({ method: 'DELETE', headers: { 'mcp-session-id': 'session-1' } });
    expect(server.sessions.size).toBe(0);
    await until(() => server.open() === 0);
  });

  it.each([404, 405, 500, undefined])('does not depend on the answer: %s', async (status) => {
    const { connection } = await connected({
      intercept(request, response) {
        if (request.method !== 'DELETE') return false;
        if (status !== undefined) response.writeHead(status).end();
        return true;
      },
    });
    const startedAt = Date.now();
    await connection.close();
    expect(Date.now() - startedAt).toBeLessThan(4000);
  });
});

describe('credentials', () => {
  const guard = (accepted: () => string) => (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers.authorization === `Bearer ${accepted()}`) return false;
    response.writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="http://127.0.0.1/meta"' }).end();
    return true;
  };

  it('are sent with each request', async () => {
    const server = await serve({ intercept: guard(() => 'good') });
    const setup = start({ authorization: () => ({ token: () => 'good' }) });
    expect(textOf(await call(await setup.connect(setup.http(server.url)), 'echo', { text: 'in' }))).toBe('in');
  });

  it('that are refused are told at once', async () => {
    const server = await serve({ intercept: guard(() => 'good') });
    for (const protocol of ['2025-03-26', 'auto'] as const) {
      const setup = start();
      await expect(setup.connect(setup.http(server.url, { protocol }))).rejects.toMatchObject({ code: 'mcp_unauthorized', value: 401 });
    }
  });

  it('are renewed once when they ran out, and the request is sent again', async () => {
    let accepted = 'first';
    let current = 'first';
    const challenges: unknown[] = [];
    const authorization: McpAuthorization = {
      token: () => current,
      async renew(challenge) {
        challenges.push(challenge);
        current = accepted;
        return true;
      },
    };
    const server = await serve({ intercept: guard(() => accepted) });
    const setup = start({ authorization: () => authorization });
    const connection = await setup.connect(setup.http(server.url));
    accepted = 'second';
    expect(textOf(await call(connection, 'echo', { text: 'renewed' }))).toBe('renewed');
    expect(challenges).toEqual([{ status: 401, url: server.url, wwwAuthenticate: 'Bearer resource_metadata="http://127.0.0.1/meta"' }]);
  });

  it('that cannot be renewed fail the call', async () => {
    let accepted = 'first';
    const server = await serve({ intercept: guard(() => accepted) });
    const setup = start({ authorization: () => ({ token: () => 'first', renew: async () => false }) });
    const connection = await setup.connect(setup.http(server.url));
    accepted = 'second';
    await expect(call(connection, 'echo')).rejects.toMatchObject({ code: 'mcp_unauthorized' });
  });
});

describe('addresses', () => {
  it('of a project get no exemption from the network guard', async () => {
    const server = await serve();
    const setup = start();
    await expect(setup.connect(setup.http(server.url, { origin: 'project' }))).rejects.toMatchObject({ code: 'mcp_request_refused' });
    expect(server.requests).toHaveLength(0);
  });

  it('may move within their origin, and the message goes along', async () => {
    const { connection, server } = await connected({
      intercept(request, response) {
        if (request.url !== '/mcp') return false;
        response.writeHead(307, { location: '/moved' }).end();
        return true;
      },
    });
    expect(textOf(await call(connection, 'echo', { text: 'moved' }))).toBe('moved');
    expect(server.requests.filter(({ url }) => url === '/mcp')).toHaveLength(1);
  });

  it('may not move elsewhere: nothing is sent there', async () => {
    let asked = 0;
    const other = createServer((_request, response) => {
      asked += 1;
      response.end();
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    cleanUp.push(() => new Promise((resolve) => other.close(() => resolve())));
    const { port } = other.address() as AddressInfo;
    const server = await serve({
      intercept(_request, response) {
        response.writeHead(307, { location: `http://127.0.0.1:${port}/mcp` }).end();
        return true;
      },
    });
    const setup = start({ authorization: () => ({ token: () => 'mine' }) });
    await expect(setup.connect(setup.http(server.url))).rejects.toMatchObject({ code: 'mcp_http_failed', value: 307 });
    expect(asked).toBe(0);
  });
});

describe('protocol versions over HTTP', () => {
  it('find a new server, which gets all of a request in its headers, too, and no session', async () => {
    const { connection, server } = await connected({ modern: true }, { protocol: 'auto' });
    expect(textOf(await call(connection, 'echo', { text: 'modern' }))).toBe('modern');
    expect(connection.report()).toMatchObject({ protocolVersion: '2026-07-28', serverName: 'scripted' });
    const sent = server.requests.find(({ message }) => isCall(message));
    expect(sent?.headers).toMatchObject({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' });
    expect(sent?.headers['mcp-session-id']).toBeUndefined();
    expect(server.requests.some(({ message }) => message?.method === 'initialize')).toBe(false);
  });

  it('find an old server, and remember that', async () => {
    const eras = new Map();
    const server = await serve();
    const setup = start({ eras });
    await setup.connect(setup.http(server.url, { protocol: 'auto' }));
    await setup.connect(setup.http(server.url, { protocol: 'auto' }));
    expect(
      server.requests.map(({ message }) => message?.method).filter((each) => each === 'server/discover' || each === 'initialize'),
    ).toEqual(['server/discover', 'initialize', 'initialize']);
  });

  it('cancel a call of the newest by the end of its request', async () => {
    const { connection, server } = await connected({ modern: true }, { protocol: 'auto' });
    const controller = new AbortController();
    const slow = connection.call('slow', {}, { signal: controller.signal });
    await until(() => server.requests.some(({ message }) => isCall(message)));
    const before = server.open();
    controller.abort();
    await expect(slow).rejects.toMatchObject({ code: 'cancelled' });
    await until(() => server.open() === before - 1);
  });

  it('tell changes of the list to who listens, in the newest', async () => {
    const { connection } = await connected({ modern: true }, { protocol: 'auto' });
    let told = 0;
    connection.onToolsChanged(() => {
      told += 1;
    });
    await call(connection, 'grow', { name: 'grown' });
    await until(() => told === 1);
  });

  it('repeat arguments in headers where a tool wants that, and leave out a tool that wants it wrongly', async () => {
    const { connection, server } = await connected({ modern: true, mode: 'headers' }, { protocol: 'auto' });
    const { tools, warnings } = await connection.listTools(live());
    expect(tools.map(({ name }) => name)).toEqual(['echo']);
    expect(warnings).toEqual([expect.stringContaining('"wrong" was left out')]);
    await call(connection, 'echo', { text: 'grün', region: 'eu' });
    expect(server.requests.find(({ message }) => isCall(message))?.headers).toMatchObject({
      'mcp-param-region': 'eu',
      'mcp-param-text': `=?base64?${Buffer.from('grün').toString('base64')}?=`,
    });
  });
});

describe('a cancelled call', () => {
  it('of an older protocol ends its stream once the server was told', async () => {
    const { connection, server } = await connected();
    const controller = new AbortController();
    const slow = connection.call('slow', {}, { signal: controller.signal });
    await until(() => server.requests.some(({ message }) => isCall(message)));
    controller.abort();
    await expect(slow).rejects.toMatchObject({ code: 'cancelled' });
    await until(() => server.requests.some(({ message }) => message?.method === 'notifications/cancelled'));
    await until(() => server.open() === 1);
  });
});
