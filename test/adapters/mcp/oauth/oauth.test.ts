import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpClient, hostPort } from '../../../../adapters/http/index.ts';
import { createMcpConnector } from '../../../../adapters/mcp/index.ts';
import { createMcpOAuth, type LoginRequest, type McpOAuth } from '../../../../adapters/mcp/oauth/index.ts';
import type { OAuthSettings } from '../../../../adapters/mcp/oauth/options.ts';
import { openProcessTrees } from '../../../../adapters/process/trees.ts';
import type { HttpClient } from '../../../../ports/http.ts';
import type { McpHttpServer } from '../../../../ports/mcp.ts';
import { type Authority, startAuthority } from './authority.ts';
import { serverAt } from './server-at.ts';

const run = promisify(execFile);
const RENEWING = fileURLToPath(new URL('renewing-process.ts', import.meta.url));

let authority: Authority;
let folder: string;
let clients: HttpClient[];
let learned: string[];
/** What is added to the time. */
let ahead: number;
beforeEach(async () => {
  authority = await startAuthority();
  folder = await mkdtemp(join(tmpdir(), 'odek-oauth-'));
  [clients, learned, ahead] = [[], [], 0];
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await authority.close();
  await rm(folder, { recursive: true, force: true });
});

/** A person who agrees: the browser goes to the page, and where that sends it. */
async function agree({ url }: LoginRequest): Promise<void> {
  const back = (await fetch(url, { redirect: 'manual' })).headers.get('location');
  await fetch(back ?? 'http://127.0.0.1:1/');
}

interface Person {
  readonly show?: (request: LoginRequest) => Promise<void>;
  readonly settings?: OAuthSettings;
  readonly loginMs?: number;
  readonly place?: string;
}

function clientOf(server: McpHttpServer): HttpClient {
  const client = createHttpClient({ mode: 'guarded', allowHosts: server.origin === 'operator' ? [hostPort(new URL(server.url))] : [] });
  clients.push(client);
  return client;
}

function oauthWith({ show, settings = {}, loginMs, place = folder }: Person = {}): McpOAuth {
  return createMcpOAuth({
    folder,
    place,
    http: clientOf,
    settings: () => settings,
    now: () => Date.now() + ahead,
    learn: (secrets) => learned.push(...secrets),
    ...(show && { show }),
    ...(loginMs !== undefined && { loginMs }),
  });
}

const signal = () => AbortSignal.timeout(20_000);
const server = () => serverAt(authority.url);

async function connect(oauth: McpOAuth) {
  const connector = createMcpConnector({
    version: '9.9.9',
    childEnvironment: () => ({}),
    trees: openProcessTrees(join(folder, 'servers')),
    redaction: { text: (text) => text, reach: 0 },
    http: clientOf,
    authorization: (each) => oauth.authorization(each),
  });
  return connector.connect(server(), signal());
}

const kept = () => readFile(join(folder, 'mcp_oauth.json'), 'utf8');

describe('a login at an MCP server', () => {
  it('is asked for by the server, done by a person, and used for every request after', async () => {
    await expect(connect(oauthWith())).rejects.toMatchObject({
      code: 'mcp_unauthorized',
      message: 'the MCP server guarded wants a login: run odek mcp login guarded at a terminal',
    });
    const shown: LoginRequest[] = [];
    const show = (request: LoginRequest) => {
      shown.push(request);
      return agree(request);
    };
    const state = await oauthWith({ show }).login(server(), signal());
    expect(state).toMatchObject({ renewable: true, scope: 'read', issuer: authority.origin });
    expect(shown[0]?.host).toBe(new URL(authority.origin).host);
    const asked = Object.fromEntries(authority.seen.authorize ?? []);
    expect(asked).toMatchObject({ response_type: 'code', code_challenge_method: 'S256', resource: authority.url, scope: 'read' });
    expect(asked.redirect_uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);

    const connection = await connect(oauthWith());
    expect((await connection.call('whoami', {}, { signal: signal() })).content).toEqual([{ type: 'text', text: 'somebody' }]);
    await connection.close();
  });

  it('is kept for the owner alone, and every token of it is known to be secret', async () => {
    await oauthWith({ show: agree }).login(server(), signal());
    expect((await stat(join(folder, 'mcp_oauth.json'))).mode & 0o777).toBe(0o600);
    expect(learned).toEqual(expect.arrayContaining(authority.tokens));
    expect(await readdir(folder)).toEqual(['mcp_oauth.json']);
  });

  it('counts for one server at one address, and of a project in its folder alone', async () => {
    const oauth = oauthWith({ show: agree });
    await oauth.login(server(), signal());
    expect(await oauth.state({ ...server(), name: 'other' })).toBeUndefined();
    expect(await oauth.state({ ...server(), url: `${authority.origin}/other` })).toBeUndefined();
    expect(await oauth.state({ ...server(), origin: 'project' })).toBeUndefined();
    expect(await oauth.state(server())).toBeDefined();
  });

  it('turns away a browser with another state, and waits on', async () => {
    const answers: number[] = [];
    const show = async (request: LoginRequest) => {
      const back = new URL((await fetch(request.url, { redirect: 'manual' })).headers.get('location') ?? '');
      const right = back.searchParams.get('state') ?? '';
      back.searchParams.set('state', 'x'.repeat(right.length));
      answers.push((await fetch(back)).status);
      expect(authority.seen.exchanges).toBe(0);
      back.searchParams.set('state', right);
      answers.push((await fetch(back)).status);
    };
    await oauthWith({ show }).login(server(), signal());
    expect(answers).toEqual([400, 200]);
  });

  it('is not completed for another issuer', async () => {
    authority.rules.iss = 'https://evil.example';
    await expect(oauthWith({ show: agree }).login(server(), signal())).rejects.toMatchObject({ code: 'mcp_login_failed', message: /iss/ });
    expect(authority.seen.exchanges).toBe(0);
  });

  it.each([[null], [['plain']]])('is not begun where the metadata say of PKCE: %j', async (pkce) => {
    authority.rules.pkce = pkce;
    await expect(oauthWith({ show: agree }).login(server(), signal())).rejects.toThrow(/PKCE with S256/);
    expect([authority.seen.registrations, authority.seen.authorize]).toEqual([0, undefined]);
  });

  it.each(['javascript:alert(1)', 'http://203.0.113.7/authorize', 'file:///etc/passwd'])('sends no browser to %s', async (page) => {
    authority.rules.authorizePage = page;
    const shown: LoginRequest[] = [];
    const show = async (request: LoginRequest) => void shown.push(request);
    await expect(oauthWith({ show }).login(server(), signal())).rejects.toMatchObject({ code: 'mcp_login_failed' });
    expect(shown).toEqual([]);
  });

  it('reaches no private address for a project, and no other private address for an operator', async () => {
    const project = { ...server(), origin: 'project' as const };
    await expect(oauthWith({ show: agree }).login(project, signal())).rejects.toThrow(/127\.0\.0\.1/);
    const inner = await startAuthority();
    authority.rules.servers = [inner.origin];
    await expect(oauthWith({ show: agree }).login(server(), signal())).rejects.toMatchObject({ code: 'mcp_login_failed' });
    expect(inner.seen.registrations).toBe(0);
    await inner.close();
  });

  it('says that the person refused', async () => {
    authority.rules.refuses = 'access_denied';
    await expect(oauthWith({ show: agree }).login(server(), signal())).rejects.toThrow(/answered access_denied/);
  });

  it('ends when nobody comes back, and when it is cancelled', async () => {
    const show = async (): Promise<void> => {};
    await expect(oauthWith({ show, loginMs: 300 }).login(server(), signal())).rejects.toThrow('nobody logged in within 300 ms');
    const stop = new AbortController();
    const login = oauthWith({ show: async () => stop.abort() }).login(server(), stop.signal);
    await expect(login).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('uses the client that the operator registered, and says so where one is needed', async () => {
    authority.rules.registers = false;
    await expect(oauthWith({ show: agree }).login(server(), signal())).rejects.toThrow(/mcp_servers\.guarded\.oauth_client_id/);
    await oauthWith({ show: agree, settings: { clientId: 'mine', scopes: ['write'] } }).login(server(), signal());
    expect(authority.seen.authorize?.get('client_id')).toBe('mine');
    expect(authority.seen.authorize?.get('scope')).toBe('write');
    expect(authority.seen.registrations).toBe(0);
  });

  it('registers once, as long as the port of the registration is free', async () => {
    const oauth = oauthWith({ show: agree });
    await oauth.login(server(), signal());
    await expect.poll(() => oauth.login(server(), signal()).then(() => authority.seen.registrations)).toBe(1);
  });

  it('is asked for again with what a refusal wanted', async () => {
    await oauthWith({ show: agree }).login(server(), signal());
    authority.rules.callScope = 'write';
    const connection = await connect(oauthWith());
    await expect(connection.call('whoami', {}, { signal: signal() })).rejects.toThrow(/more rights \(write\): run odek mcp login guarded/);
    await connection.close();
    await oauthWith({ show: agree }).login(server(), signal());
    expect(authority.seen.authorize?.get('scope')?.split(' ').sort()).toEqual(['read', 'write']);
    const again = await connect(oauthWith());
    expect((await again.call('whoami', {}, { signal: signal() })).isError).toBe(false);
    await again.close();
  });

  it('holds no word of an answer that may repeat a secret', async () => {
    authority.rules.tokenStatus = 500;
    const error = await oauthWith({ show: agree }).login(server(), signal()).catch(String);
    expect(error).toMatch(/answered server_error/);
    expect(error).not.toMatch(/code_verifier|grant_type/);
  });
});

describe('the renewal of a login', () => {
  beforeEach(async () => {
    await oauthWith({ show: agree }).login(server(), signal());
  });

  it('happens before the token ends, once for all who ask, and keeps the next refresh token', async () => {
    const authorization = oauthWith().authorization(server());
    const first = await authorization.token(signal());
    ahead = (3600 - 30) * 1000;
    const all = await Promise.all(Array.from({ length: 8 }, () => oauthWith().authorization(server()).token(signal())));
    expect(new Set(all).size).toBe(1);
    expect(all[0]).not.toBe(first);
    expect(authority.seen.refreshes).toBe(1);
    expect(await kept()).toContain(authority.tokens.at(-1));
    expect(await kept()).not.toContain(first);
  });

  it('happens once when two processes want it at the same time', async () => {
    authority.rules.refreshMs = 300;
    const processes = [1, 2].map(() => run(process.execPath, [RENEWING, folder, authority.url]));
    const printed = (await Promise.all(processes)).map(({ stdout }) => stdout.trim());
    expect(authority.seen.refreshes).toBe(1);
    const digest = createHash('sha256')
      .update(authority.tokens.at(-2) ?? '')
      .digest('hex');
    expect(printed).toEqual([digest, digest]);
  });

  it('happens when the server refuses the token, and the request is sent again', async () => {
    const connection = await connect(oauthWith());
    authority.rules.expiresIn = 0;
    ahead = (3600 - 30) * 1000;
    await oauthWith().authorization(server()).token(signal());
    authority.rules.expiresIn = 3600;
    ahead = 0;
    const again = await connect(oauthWith());
    expect((await again.call('whoami', {}, { signal: signal() })).isError).toBe(false);
    await Promise.all([connection.close(), again.close()]);
  });

  it('ends with a call for a new login when the grant was revoked, which then works', async () => {
    authority.endGrants();
    await expect(connect(oauthWith())).rejects.toThrow('wants a login: run odek mcp login guarded at a terminal');
    expect(await kept()).not.toMatch(/"(access|refresh)"/);
    await oauthWith({ show: agree }).login(server(), signal());
    await (await connect(oauthWith())).close();
  });

  it('leaves the login alone when the authorization server cannot answer', async () => {
    authority.rules.tokenStatus = 503;
    ahead = 3600 * 1000;
    const token = await oauthWith().authorization(server()).token(signal());
    expect(token).toBe(authority.tokens[0]);
    authority.rules.tokenStatus = undefined;
    expect(await oauthWith().authorization(server()).token(signal())).toBe(authority.tokens.at(-2));
  });
});

describe('the file of logins', () => {
  it('forgets a login that is given up, which the authorization server is told', async () => {
    const oauth = oauthWith({ show: agree });
    expect(await oauth.logout(server(), signal())).toEqual({ had: false, revoked: false });
    await oauth.login(server(), signal());
    expect(await oauth.logout(server(), signal())).toEqual({ had: true, revoked: true });
    expect(authority.seen.revoked).toEqual([authority.tokens.at(-1)]);
    expect(await oauth.state(server())).toBeUndefined();
    expect(await kept()).not.toMatch(/access-|refresh-/);
  });

  it('is not used while it is open to others, nor when it is something else, and is not written over', async () => {
    const oauth = oauthWith({ show: agree });
    await oauth.login(server(), signal());
    const file = join(folder, 'mcp_oauth.json');
    await chmod(file, 0o644);
    await expect(oauth.state(server())).rejects.toThrow(/chmod 600/);
    // Servers that want no login do not suffer from it.
    expect(await oauth.authorization(server()).token(signal())).toBeUndefined();
    await expect(connect(oauth)).rejects.toThrow(/chmod 600/);
    await chmod(file, 0o600);
    await writeFile(file, '{"version":1,"logins":[{"key":1}]}');
    await expect(oauth.state(server())).rejects.toThrow(/no list of logins/);
    await expect(oauth.login(server(), signal())).rejects.toMatchObject({ code: 'mcp_login_failed' });
    expect(await kept()).toContain('"key":1');
  });
});
