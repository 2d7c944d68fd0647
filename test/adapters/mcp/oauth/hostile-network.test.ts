import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, request as nodeRequest, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpClient, hostPort } from '../../../../adapters/http/index.ts';
import { createMcpConnector } from '../../../../adapters/mcp/index.ts';
import { createMcpOAuth, type LoginRequest, type McpOAuth } from '../../../../adapters/mcp/oauth/index.ts';
import { openProcessTrees } from '../../../../adapters/process/trees.ts';
import type { HttpClient } from '../../../../ports/http.ts';
import { type Authority, startAuthority } from './authority.ts';
import { serverAt } from './server-at.ts';

let authority: Authority;
let folder: string;
let clients: HttpClient[];
let servers: Server[];
beforeEach(async () => {
  authority = await startAuthority();
  folder = await mkdtemp(join(tmpdir(), 'odek-oauth-'));
  [clients, servers] = [[], []];
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  for (const each of servers) {
    each.closeAllConnections();
    await new Promise((resolve) => each.close(resolve));
  }
  await authority.close();
  await rm(folder, { recursive: true, force: true });
});

/** A server of its own; resolves with its origin. */
async function serve(listener: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function agree({ url }: LoginRequest): Promise<void> {
  const back = (await fetch(url, { redirect: 'manual' })).headers.get('location');
  await fetch(back ?? 'http://127.0.0.1:1/');
}

interface Given {
  readonly show?: ((request: LoginRequest) => Promise<void>) | null;
  readonly loginMs?: number;
  readonly hosts?: readonly string[];
}

function oauthWith({ show = agree, loginMs, hosts = [] }: Given = {}): McpOAuth {
  return createMcpOAuth({
    folder,
    place: folder,
    http: ({ url }) => clientTo([url, ...hosts]),
    settings: () => ({}),
    now: Date.now,
    learn: () => {},
    ...(show !== null && { show }),
    ...(loginMs !== undefined && { loginMs }),
  });
}

function clientTo(urls: readonly string[]): HttpClient {
  const client = createHttpClient({ mode: 'guarded', allowHosts: urls.map((url) => hostPort(new URL(url))) });
  clients.push(client);
  return client;
}

const signal = () => AbortSignal.timeout(20_000);

describe('an authorization server without manners', () => {
  it.each(['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server', '/register', '/token'])(
    'is not waited for longer than a login may take at %s',
    async (slow) => {
      // A byte now and then, without an end.
      const origin = await serve((request, response) => {
        if (!request.url?.startsWith(slow)) return void forward(request, response, authority.origin, origin);
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{');
        const drip = setInterval(() => response.write(' '), 50);
        response.on('close', () => clearInterval(drip));
      });
      const login = oauthWith({ loginMs: 1000 }).login(serverAt(`${origin}/mcp`), signal());
      await expect(login).rejects.toThrow('nobody logged in within 1000 ms');
    },
  );

  it.each(['/.well-known/oauth-protected-resource', '/.well-known/oauth-authorization-server', '/register', '/token'])(
    'is not listened to without end at %s',
    async (endless) => {
      let written = 0;
      const origin = await serve((request, response) => {
        if (!request.url?.startsWith(endless)) return void forward(request, response, authority.origin, origin);
        response.writeHead(200, { 'content-type': 'application/json' });
        const more = (): void => {
          while (!response.destroyed && written < 64 * 1024 * 1024) {
            written += 64 * 1024;
            if (!response.write('x'.repeat(64 * 1024))) return void response.once('drain', more);
          }
        };
        more();
      });
      await expect(oauthWith().login(serverAt(`${origin}/mcp`), signal())).rejects.toMatchObject({ code: 'mcp_login_failed' });
      expect(written).toBeLessThan(64 * 1024 * 1024);
    },
  );

  it.each([301, 302, 303, 307, 308])('cannot send what goes to its token endpoint elsewhere with %i', async (status) => {
    const got: string[] = [];
    const thief = await serve(async (request, response) => {
      for await (const chunk of request) got.push(String(chunk));
      response.end('{}');
    });
    const origin = await serve((request, response) => {
      if (request.url !== '/token') return void forward(request, response, authority.origin, origin);
      response.writeHead(status, { location: `${thief}/token` }).end();
    });
    const login = oauthWith({ hosts: [thief] }).login(serverAt(`${origin}/mcp`), signal());
    await expect(login).rejects.toMatchObject({ code: 'mcp_login_failed' });
    expect(got).toEqual([]);
  });
});

describe('a server of a project with a public address', () => {
  const PUBLIC = 'https://mcp.example.com';

  /** The public server answers here; everything else goes through the guard, which exempts nothing. */
  function asPublic(metadata: object, servers: readonly string[]): McpOAuth {
    const guarded = clientTo([]);
    const replies: Record<string, object> = {
      '/.well-known/oauth-protected-resource': { resource: `${PUBLIC}/mcp`, authorization_servers: servers },
      '/.well-known/oauth-authorization-server': {
        issuer: PUBLIC,
        authorization_endpoint: `${PUBLIC}/authorize`,
        token_endpoint: `${PUBLIC}/token`,
        registration_endpoint: `${PUBLIC}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        ...metadata,
      },
      '/token': { access_token: 'access-of-it', token_type: 'Bearer' },
      '/register': { client_id: 'known', redirect_uris: ['http://127.0.0.1/callback'] },
    };
    const http: HttpClient = {
      ...guarded,
      async request(request, until) {
        const { origin, pathname } = new URL(request.url);
        if (origin !== PUBLIC) return guarded.request(request, until);
        const found = Object.entries(replies).find(([path]) => pathname.startsWith(path))?.[1];
        const body = (async function* () {
          yield new TextEncoder().encode(JSON.stringify(found ?? {}));
        })();
        return { status: found === undefined ? 401 : 200, headers: {}, body, cancel: () => {} };
      },
    };
    const show = async ({ url }: LoginRequest): Promise<void> => {
      const back = new URL(new URL(url).searchParams.get('redirect_uri') ?? '');
      back.search = String(new URLSearchParams({ code: 'given', state: new URL(url).searchParams.get('state') ?? '' }));
      await fetch(back);
    };
    return createMcpOAuth({ folder, place: folder, http: () => http, settings: () => ({}), now: Date.now, learn: () => {}, show });
  }

  it.each(['servers', 'registration_endpoint', 'token_endpoint'])('leads nowhere on this machine by its %s', async (by) => {
    let requests = 0;
    const inner = await serve((_request, response) => {
      requests += 1;
      response.end('{}');
    });
    const oauth = asPublic(by === 'servers' ? {} : { [by]: `${inner}/inner` }, [by === 'servers' ? inner : PUBLIC]);
    const server = serverAt(`${PUBLIC}/mcp`, { origin: 'project' });
    await expect(oauth.login(server, signal())).rejects.toThrow(/the login failed: .*127\.0\.0\.1/);
    expect(requests).toBe(0);
  });

  it('sends no token to this machine by its revocation_endpoint', async () => {
    let requests = 0;
    const inner = await serve((_request, response) => {
      requests += 1;
      response.end('{}');
    });
    const oauth = asPublic({ revocation_endpoint: `${inner}/revoke` }, [PUBLIC]);
    const server = serverAt(`${PUBLIC}/mcp`, { origin: 'project' });
    await oauth.login(server, signal());
    expect(await oauth.logout(server, signal())).toEqual({ had: true, revoked: false });
    expect(requests).toBe(0);
  });
});

describe('a server that has a login', () => {
  it.each([301, 302, 303, 307, 308])('cannot send the token to another origin with %i', async (status) => {
    const got: (string | undefined)[] = [];
    const thief = await serve((request, response) => {
      got.push(request.headers.authorization);
      response.writeHead(401).end();
    });
    let moved = false;
    const origin = await serve((request, response) => {
      if (!moved || request.url !== '/mcp') return void forward(request, response, authority.origin, origin);
      response.writeHead(status, { location: `${thief}/mcp` }).end();
    });
    const oauth = oauthWith({ hosts: [thief] });
    await oauth.login(serverAt(`${origin}/mcp`), signal());
    moved = true;
    await expect(connectTo(`${origin}/mcp`, oauth, [thief])).rejects.toThrow();
    expect(got).toEqual([]);
  });

  it.each([
    [401, 'Bearer error="invalid_token"'],
    [403, 'Bearer error="insufficient_scope", scope="more"'],
    [403, 'Bearer error="insufficient_scope", scope="read"'],
  ])('and answers %i for ever with %s is asked a few times', async (status, header) => {
    let requests = 0;
    let refusing = false;
    const origin = await serve((request, response) => {
      if (request.url === '/mcp') requests += 1;
      if (!refusing || request.url !== '/mcp') return void forward(request, response, authority.origin, origin);
      response.writeHead(status, { 'www-authenticate': header }).end();
    });
    await oauthWith().login(serverAt(`${origin}/mcp`), signal());
    [refusing, requests] = [true, 0];
    await expect(connectTo(`${origin}/mcp`, oauthWith({ show: null }))).rejects.toMatchObject({ code: 'mcp_unauthorized' });
    expect(requests).toBeLessThanOrEqual(4);
    expect(authority.seen.refreshes).toBeLessThanOrEqual(2);
  });
});

describe('the address on this machine that the browser comes back to', () => {
  it('is there at 127.0.0.1 alone, takes one answer, and is gone afterwards', async () => {
    const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    const others = [
      ...addresses.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address),
      '127.0.0.2',
    ];
    const answers: number[] = [];
    let back = '';
    const show = async ({ url }: LoginRequest): Promise<void> => {
      back = (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '';
      const { port } = new URL(back);
      for (const address of others) expect(await isOpen(address, Number(port))).toBe(false);
      for (const [method, path] of [
        ['POST', new URL(back).pathname + new URL(back).search],
        ['GET', '/'],
        ['GET', '/callback'],
        ['GET', `/callback?code=theirs&state=${'A'.repeat(43)}`],
        ['GET', `//evil.example/callback?code=theirs`],
      ] as const) {
        answers.push(await statusOf(port, method, path));
      }
      const twice = await Promise.all([fetch(back), fetch(back.replace(/code=[^&]+/, 'code=theirs'))]);
      answers.push(...twice.map(({ status }) => status));
    };
    await oauthWith({ show }).login(serverAt(authority.url), signal());
    expect(answers.slice(0, 5)).toEqual([404, 404, 400, 400, 400]);
    expect(answers.slice(5)).toEqual([200, 400]);
    expect(authority.seen.exchanges).toBe(1);
    await expect.poll(() => isOpen('127.0.0.1', Number(new URL(back).port))).toBe(false);
  });

  it('is gone when the time is over', async () => {
    let back = '';
    const show = async ({ url }: LoginRequest): Promise<void> => {
      back = (await fetch(url, { redirect: 'manual' })).headers.get('location') ?? '';
    };
    await expect(oauthWith({ show, loginMs: 300 }).login(serverAt(authority.url), signal())).rejects.toThrow('within 300 ms');
    await expect(fetch(back)).rejects.toThrow();
    expect(authority.seen.exchanges).toBe(0);
  });
});

describe('the file of logins', () => {
  it('loses none of several that are made at the same time', async () => {
    const names = Array.from({ length: 6 }, (_, at) => `server-${at}`);
    await Promise.all(names.map((name) => oauthWith().login(serverAt(authority.url, { name }), signal())));
    const states = await Promise.all(names.map((name) => oauthWith().state(serverAt(authority.url, { name }))));
    expect(states.filter((state) => state === undefined)).toEqual([]);
  });

  it('is written in the place of a link, and what the link led to stays as it was', async () => {
    const elsewhere = join(folder, 'elsewhere');
    await writeFile(elsewhere, '{"version":1,"logins":[]}', { mode: 0o600 });
    await symlink(elsewhere, join(folder, 'mcp_oauth.json'));
    await oauthWith().login(serverAt(authority.url), signal());
    expect(await readFile(elsewhere, 'utf8')).toBe('{"version":1,"logins":[]}');
  });
});

async function connectTo(url: string, oauth: McpOAuth, hosts: readonly string[] = []): Promise<void> {
  const connector = createMcpConnector({
    version: '9.9.9',
    childEnvironment: () => ({}),
    trees: openProcessTrees(join(folder, 'servers')),
    redaction: { text: (text) => text, reach: 0 },
    http: () => clientTo([url, ...hosts]),
    authorization: (each) => oauth.authorization(each),
  });
  await (await connector.connect(serverAt(url), signal())).close();
}

function isOpen(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2000 });
    const end = (open: boolean) => () => {
      socket.destroy();
      resolve(open);
    };
    socket.once('connect', end(true)).once('error', end(false)).once('timeout', end(false));
  });
}

function statusOf(port: string, method: string, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    nodeRequest({ host: '127.0.0.1', port, method, path, headers: { host: 'evil.example' } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

/** The authority's answer, with this origin in the place of its own on the way there and back. */
async function forward(
  request: Parameters<NonNullable<Parameters<typeof createServer>[1]>>[0],
  response: Parameters<NonNullable<Parameters<typeof createServer>[1]>>[1],
  to: string,
  as: string,
): Promise<void> {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const swap = (text: string, from: string, into: string): string =>
    text.replaceAll(from, into).replaceAll(encodeURIComponent(from), encodeURIComponent(into));
  const { host: _host, 'content-length': _length, connection: _connection, ...headers } = request.headers;
  const init = { method: request.method ?? 'GET', headers: headers as Record<string, string>, redirect: 'manual' as const };
  const answer = await fetch(`${to}${swap(request.url ?? '/', as, to)}`, { ...init, ...(body !== '' && { body: swap(body, as, to) }) });
  const own = Object.fromEntries([...answer.headers].map(([name, value]) => [name, swap(value, to, as)]));
  const { 'content-length': _size, 'transfer-encoding': _coding, connection: _kept, ...kept } = own;
  response.writeHead(answer.status, kept).end(swap(await answer.text(), to, as));
}
