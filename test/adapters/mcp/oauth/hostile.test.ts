import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpClient, hostPort } from '../../../../adapters/http/index.ts';
import { createMcpOAuth, type LoginRequest, type McpOAuth } from '../../../../adapters/mcp/oauth/index.ts';
import type { OAuthSettings } from '../../../../adapters/mcp/oauth/options.ts';
import type { HttpClient } from '../../../../ports/http.ts';
import { type Authority, startAuthority } from './authority.ts';
import { serverAt } from './server-at.ts';

let authority: Authority;
/** Another authorization server, which is honest. */
let other: Authority;
let folder: string;
let http: HttpClient;
/** Addresses that were asked for. */
let asked: string[];
let learned: string[];
let ahead: number;
beforeEach(async () => {
  [authority, other] = await Promise.all([startAuthority(), startAuthority()]);
  folder = await mkdtemp(join(tmpdir(), 'odek-oauth-'));
  const guarded = createHttpClient({ mode: 'guarded', allowHosts: [authority, other].map(({ origin }) => hostPort(new URL(origin))) });
  http = {
    ...guarded,
    request(request, signal) {
      asked.push(request.url);
      return guarded.request(request, signal);
    },
  };
  [asked, learned, ahead] = [[], [], 0];
});
afterEach(async () => {
  await http.close();
  await Promise.all([authority.close(), other.close()]);
  await rm(folder, { recursive: true, force: true });
});

async function agree({ url }: LoginRequest): Promise<void> {
  const back = (await fetch(url, { redirect: 'manual' })).headers.get('location');
  await fetch(back ?? 'http://127.0.0.1:1/');
}

function oauthWith(settings: OAuthSettings = {}, show: ((request: LoginRequest) => Promise<void>) | null = agree): McpOAuth {
  return createMcpOAuth({
    folder,
    place: folder,
    http: () => http,
    settings: () => settings,
    now: () => Date.now() + ahead,
    learn: (secrets) => learned.push(...secrets),
    ...(show !== null && { show }),
  });
}

const signal = () => AbortSignal.timeout(20_000);
const server = () => serverAt(authority.url);
const kept = () => readFile(join(folder, 'mcp_oauth.json'), 'utf8');
const login = (settings?: OAuthSettings) => oauthWith(settings).login(server(), signal());
const challenge = (scope: string) => ({
  status: 403,
  url: authority.url,
  wwwAuthenticate: `Bearer error="insufficient_scope", scope="${scope}"`,
});

describe('an authorization server that sends a person to another one', () => {
  it('is shown with the host that gets what the login brings', async () => {
    const shown: LoginRequest[] = [];
    authority.rules.authorizePage = `${other.origin}/authorize`;
    const show = async (request: LoginRequest) => {
      shown.push(request);
      await agree(request);
    };
    await oauthWith({}, show)
      .login(server(), signal())
      .catch(() => {});
    expect(shown[0]).toMatchObject({ host: new URL(other.origin).host, tokenHost: new URL(authority.origin).host });
  });

  it('gets nothing where the other one says who it is', async () => {
    authority.rules.authorizePage = `${other.origin}/authorize`;
    other.rules.iss = other.origin;
    await expect(login()).rejects.toThrow(/iss/);
    expect(authority.seen.exchanges).toBe(0);
  });

  it('gets no secret that the operator gave for the one before', async () => {
    const settings = { clientId: 'mine', clientSecret: 'secret-of-the-operator' };
    await login(settings);
    authority.rules.servers = [other.origin];
    await expect(login(settings)).rejects.toThrow(/is now http:.*run odek mcp logout guarded/);
    expect([other.seen.authorize, other.seen.exchanges]).toEqual([undefined, 0]);
    await oauthWith(settings).logout(server(), signal());
    await expect(login(settings)).rejects.toThrow(/invalid_grant/);
    expect(other.seen.exchanges).toBe(1);
  });
});

describe('what the browser brings', () => {
  it.each(['code', 'state', 'iss'])('counts for nothing with %s in it twice', async (name) => {
    authority.rules.iss = authority.origin;
    authority.rules.back = [[name, 'another']];
    await expect(login()).rejects.toThrow(`brought ${name} more than once`);
    expect(authority.seen.exchanges).toBe(0);
  });
});

describe('the login page', () => {
  it('is never without TLS for a project, not even on this machine', async () => {
    const project = { ...server(), origin: 'project' as const };
    await expect(oauthWith().login(project, signal())).rejects.toThrow(/the login page is not https but http:\/\/127\.0\.0\.1/);
    expect(authority.seen.authorize).toBeUndefined();
  });

  it('has an address that can be shown', async () => {
    authority.rules.authorizePage = `${authority.origin}/authorize?more=${'x'.repeat(20_000)}`;
    await expect(login()).rejects.toThrow(/address of the login page has \d+ characters, the limit is 16384/);
  });
});

describe('an answer with tokens', () => {
  it.each([['DPoP'], ['mac'], ['']])('of the type %j is not used', async (type) => {
    authority.rules.answer = { token_type: type };
    await expect(login()).rejects.toThrow(/no bearer token/);
    await expect(kept()).rejects.toThrow();
  });

  it('may spell its type as it likes', async () => {
    authority.rules.answer = { token_type: 'bEARER' };
    expect(await login()).toMatchObject({ renewable: true });
  });

  it.each([
    ['access_token', ''],
    ['access_token', 'a\r\nx-evil: 1'],
    ['access_token', 'x'.repeat(16_385)],
    ['refresh_token', 'a\nb'],
    ['refresh_token', 'x'.repeat(16_385)],
  ])('is not used where %s cannot be one', async (field, value) => {
    authority.rules.answer = { [field]: value };
    await expect(login()).rejects.toThrow(new RegExp(`${field} .*16384`));
    expect(learned).not.toContain(value);
  });

  it('may leave the refresh token empty, which is none', async () => {
    authority.rules.answer = { refresh_token: '' };
    expect(await login()).toMatchObject({ renewable: false });
  });

  it.each([
    ['3600', 3600],
    [1e300, 10 * 365 * 86_400],
    [-5, undefined],
    [0, undefined],
    [null, undefined],
  ])('with expires_in %j holds for a time that can be shown', async (expiresIn, seconds) => {
    authority.rules.answer = { expires_in: expiresIn };
    const { until } = await login();
    if (seconds === undefined) expect(until).toBeUndefined();
    else expect(Math.abs((until ?? 0) - Date.now() - seconds * 1000)).toBeLessThan(20_000);
    expect(() => new Date(until ?? 0).toISOString()).not.toThrow();
  });

  it('that makes the login too large to be kept is refused, and the other logins stay', async () => {
    await login();
    const before = await kept();
    authority.rules.answer = { scope: 'x'.repeat(200_000) };
    await expect(login()).rejects.toThrow(/limit is 65536/);
    expect(await kept()).toBe(before);
  });

  it('holds no client secret that could not be hidden', async () => {
    authority.rules.registration = { client_secret: 'x'.repeat(16_385) };
    await expect(login()).rejects.toThrow(/client_secret .*16384/);
    expect(learned).toEqual([]);
  });

  it.each([['<html>'], ['[]'], ['null'], ['"text"']])('may be %j, which is told without a word of it', async (text) => {
    const raw: HttpClient = {
      ...http,
      async request(request, until) {
        const response = await http.request(request, until);
        if (!request.url.endsWith('/token')) return response;
        response.cancel();
        return {
          ...response,
          headers: {},
          body: (async function* () {
            yield new TextEncoder().encode(text);
          })(),
        };
      },
    };
    const oauth = createMcpOAuth({
      folder,
      place: folder,
      http: () => raw,
      settings: () => ({}),
      now: Date.now,
      learn: () => {},
      show: agree,
    });
    await expect(oauth.login(server(), signal())).rejects.toThrow('the login failed: an answer is not what the protocol wants');
  });
});

describe('a token that is short-lived', () => {
  it('is renewed once and then used until the server refuses it', async () => {
    await login();
    ahead = 3600 * 1000;
    authority.rules.answer = { expires_in: 5 };
    const authorization = oauthWith().authorization(server());
    for (let round = 0; round < 10; round += 1) await authorization.token(signal());
    expect(authority.seen.refreshes).toBe(1);
  });
});

describe('the renewal', () => {
  it('is not begun where its outcome could not be kept', { timeout: 30_000 }, async () => {
    await login();
    ahead = 3600 * 1000;
    // Nothing can be written while this is there.
    await mkdir(join(folder, 'mcp_oauth.json.lock'));
    await oauthWith().authorization(server()).token(signal());
    expect(authority.seen.refreshes).toBe(0);
    await rm(join(folder, 'mcp_oauth.json.lock'), { recursive: true, force: true });
    expect(await oauthWith().authorization(server()).token(signal())).toBe(authority.tokens.at(-2));
  });

  it('is no login again for somebody who logs out meanwhile, and the last token is taken back', async () => {
    await login();
    ahead = 3600 * 1000;
    authority.rules.refreshMs = 500;
    const renewing = oauthWith().authorization(server()).token(signal());
    await expect.poll(() => authority.seen.refreshes).toBe(1);
    expect(await oauthWith().logout(server(), signal())).toEqual({ had: true, revoked: true });
    await renewing;
    expect(await oauthWith().state(server())).toBeUndefined();
    expect(authority.seen.revoked).toEqual([authority.tokens.at(-1)]);
  });

  it('does not take the place of a login that is done meanwhile', async () => {
    await login();
    ahead = 3600 * 1000;
    authority.rules.refreshMs = 500;
    const renewing = oauthWith().authorization(server()).token(signal());
    await expect.poll(() => authority.seen.refreshes).toBe(1);
    authority.rules.answer = { scope: 'of-the-new-login' };
    const done = login();
    await expect.poll(() => authority.seen.exchanges).toBe(2);
    authority.rules.answer = {};
    await Promise.all([renewing, done]);
    expect((await oauthWith().state(server()))?.scope).toBe('of-the-new-login');
  });

  it('loses no token to a server that wants more rights meanwhile', async () => {
    await login();
    const slow = oauthWith({}, null).authorization(server());
    await slow.token(signal());
    ahead = 3600 * 1000;
    authority.rules.refreshMs = 500;
    const renewing = oauthWith().authorization(server()).token(signal());
    await expect.poll(() => authority.seen.refreshes).toBe(1);
    const refused = expect(slow.renew?.(challenge('write'), signal())).rejects.toThrow(/more rights \(write\)/);
    await Promise.all([renewing, refused]);
    expect(await kept()).toContain(authority.tokens.at(-1));
    expect(await kept()).toContain('"wanted": "read write"');
  });
});

describe('a server that wants more rights', () => {
  it('gets none beside those that the operator chose', async () => {
    await login({ scopes: ['read'] });
    const authorization = oauthWith({ scopes: ['read'] }, null).authorization(server());
    await authorization.token(signal());
    await expect(authorization.renew?.(challenge('admin'), signal())).rejects.toThrow(
      /more rights \(admin\) than mcp_servers\.guarded\.oauth_scopes names/,
    );
    await login({ scopes: ['read'] });
    expect(authority.seen.authorize?.get('scope')).toBe('read');
    expect(await kept()).not.toContain('admin');
  });

  it('makes nothing be written twice for the same', async () => {
    await login();
    const authorization = oauthWith({}, null).authorization(server());
    await authorization.token(signal());
    await expect(authorization.renew?.(challenge('write'), signal())).rejects.toThrow(/write/);
    const { ino } = await import('node:fs').then(({ statSync }) => statSync(join(folder, 'mcp_oauth.json')));
    await expect(authorization.renew?.(challenge('write'), signal())).rejects.toThrow(/write/);
    expect((await import('node:fs').then(({ statSync }) => statSync(join(folder, 'mcp_oauth.json')))).ino).toBe(ino);
  });
});

describe('giving up a login', () => {
  it('sends no token in the clear to another machine', async () => {
    authority.rules.metadata = { revocation_endpoint: 'http://revocation.example.com/revoke' };
    await login();
    expect(await oauthWith().logout(server(), signal())).toEqual({ had: true, revoked: false });
    expect(asked.filter((url) => url.includes('revocation'))).toEqual([]);
    expect(await oauthWith().state(server())).toBeUndefined();
  });

  it('says who it is as the authorization server takes it', async () => {
    authority.rules.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post'] };
    const bodies: string[] = [];
    const inner = http;
    http = {
      ...inner,
      request(request, until) {
        if (request.url.endsWith('/revoke')) bodies.push(`${request.headers.authorization ?? ''} ${String(request.body)}`);
        return inner.request(request, until);
      },
    };
    const settings = { clientId: 'mine', clientSecret: 'secret-of-the-operator' };
    await login(settings);
    await oauthWith(settings).logout(server(), signal());
    expect(bodies.join()).toMatch(/^ .*client_secret=secret-of-the-operator/);
  });
});
