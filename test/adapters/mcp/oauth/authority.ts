/** An MCP server that wants a login, and its authorization server, on one port of this machine. */
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AuthorityRules {
  /** What the metadata say of PKCE; null: nothing. */
  pkce: readonly string[] | null;
  /** Sent back to the browser as `iss`; null: none. */
  iss: string | null;
  /** The `authorization_servers` of the resource. */
  servers: readonly string[];
  expiresIn: number;
  /** Scopes that a tool call wants. */
  callScope: string | undefined;
  registers: boolean;
  /** The login page refuses. */
  refuses: string | undefined;
  /** Milliseconds that a refresh takes. */
  refreshMs: number;
  authorizePage: string;
  /** A tool's result repeats the token that it was called with. */
  tells: boolean;
  tokenStatus: number | undefined;
  /** Takes the place of fields of the metadata, of an answer with tokens and of a registration. */
  metadata: Record<string, unknown>;
  answer: Record<string, unknown>;
  registration: Record<string, unknown>;
  /** Added to what the browser brings back. */
  back: readonly (readonly [string, string])[];
}

export interface Authority {
  readonly origin: string;
  readonly url: string;
  readonly rules: AuthorityRules;
  /** Requests by kind, and what the last of them brought. */
  readonly seen: {
    registrations: number;
    refreshes: number;
    exchanges: number;
    revoked: string[];
    authorize: URLSearchParams | undefined;
    bearers: string[];
  };
  /** Every token that was given out. */
  readonly tokens: string[];
  /** Ends what was granted. */
  endGrants(): void;
  close(): Promise<void>;
}

export async function startAuthority(): Promise<Authority> {
  const codes = new Map<string, { challenge: string; redirect: string; scope: string }>();
  const access = new Map<string, { scope: string; until: number }>();
  const refresh = new Map<string, string>();
  const tokens: string[] = [];
  const seen: Authority['seen'] = { registrations: 0, refreshes: 0, exchanges: 0, revoked: [], authorize: undefined, bearers: [] };
  const rules: AuthorityRules = {
    pkce: ['S256'],
    iss: null,
    servers: [],
    expiresIn: 3600,
    callScope: undefined,
    registers: true,
    refuses: undefined,
    refreshMs: 0,
    authorizePage: '',
    tells: false,
    tokenStatus: undefined,
    metadata: {},
    answer: {},
    registration: {},
    back: [],
  };
  let origin = '';

  const grant = (scope: string) => {
    const token = `access-${randomUUID()}`;
    const next = `refresh-${randomUUID()}`;
    access.set(token, { scope, until: Date.now() + rules.expiresIn * 1000 });
    refresh.set(next, scope);
    tokens.push(token, next);
    return { access_token: token, refresh_token: next, token_type: 'Bearer', expires_in: rules.expiresIn, scope, ...rules.answer };
  };

  const handlers: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse, url: URL, body: string) => unknown>> = {
    '/.well-known/oauth-protected-resource/mcp': (_request, response) =>
      json(response, 200, { resource: `${origin}/mcp`, authorization_servers: rules.servers, scopes_supported: ['read'] }),
    '/.well-known/oauth-authorization-server': (_request, response) =>
      json(response, 200, {
        issuer: origin,
        authorization_endpoint: rules.authorizePage,
        token_endpoint: `${origin}/token`,
        revocation_endpoint: `${origin}/revoke`,
        ...(rules.registers && { registration_endpoint: `${origin}/register` }),
        response_types_supported: ['code'],
        token_endpoint_auth_methods_supported: ['none', 'client_secret_post'],
        ...(rules.pkce !== null && { code_challenge_methods_supported: rules.pkce }),
        ...rules.metadata,
      }),
    '/register': (_request, response, _url, body) => {
      seen.registrations += 1;
      return json(response, 201, { ...JSON.parse(body), client_id: `client-${seen.registrations}`, ...rules.registration });
    },
    '/authorize': (_request, response, { searchParams: asked }) => {
      seen.authorize = asked;
      const back = new URL(asked.get('redirect_uri') ?? '');
      const code = randomUUID();
      codes.set(code, {
        challenge: asked.get('code_challenge') ?? '',
        redirect: back.href,
        scope: asked.get('scope') ?? '',
      });
      back.searchParams.set('state', asked.get('state') ?? '');
      if (rules.refuses === undefined) back.searchParams.set('code', code);
      else back.searchParams.set('error', rules.refuses);
      if (rules.iss !== null) back.searchParams.set('iss', rules.iss);
      for (const [name, value] of rules.back) back.searchParams.append(name, value);
      response.writeHead(302, { location: back.href }).end();
    },
    '/token': async (_request, response, _url, body) => {
      const form = new URLSearchParams(body);
      if (rules.tokenStatus !== undefined) return json(response, rules.tokenStatus, { error: 'server_error', error_description: body });
      if (form.get('grant_type') === 'refresh_token') {
        seen.refreshes += 1;
        await new Promise((resolve) => setTimeout(resolve, rules.refreshMs));
        const used = form.get('refresh_token') ?? '';
        const scope = refresh.get(used);
        // A token that was used before ends all of them, as rotation wants.
        if (scope === undefined) refresh.clear();
        refresh.delete(used);
        return scope === undefined
          ? json(response, 400, { error: 'invalid_grant', error_description: used })
          : json(response, 200, grant(scope));
      }
      seen.exchanges += 1;
      const known = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const digest = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      const isRight = known !== undefined && known.challenge === digest && known.redirect === form.get('redirect_uri');
      if (!isRight || form.get('resource') !== `${origin}/mcp`) return json(response, 400, { error: 'invalid_grant' });
      return json(response, 200, grant(known.scope));
    },
    '/revoke': (_request, response, _url, body) => {
      seen.revoked.push(new URLSearchParams(body).get('token') ?? '');
      return json(response, 200, {});
    },
    '/mcp': (request, response, _url, body) => {
      if (request.method !== 'POST') return json(response, 405, {});
      if (request.headers.authorization !== undefined) seen.bearers.push(request.headers.authorization);
      const held = access.get((request.headers.authorization ?? '').replace('Bearer ', ''));
      const where = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
      if (held === undefined || held.until < Date.now()) {
        return json(response, 401, {}, { 'www-authenticate': `Bearer ${where}, scope="read"` });
      }
      const message = JSON.parse(body) as { id?: number; method: string };
      const isCall = message.method === 'tools/call';
      if (isCall && rules.callScope !== undefined && !held.scope.split(' ').includes(rules.callScope)) {
        return json(response, 403, {}, { 'www-authenticate': `Bearer error="insufficient_scope", scope="${rules.callScope}", ${where}` });
      }
      if (message.id === undefined) return response.writeHead(202).end();
      return json(response, 200, {
        jsonrpc: '2.0',
        id: message.id,
        result: resultOf(message.method, rules.tells ? (request.headers.authorization ?? '').replace('Bearer', '') : ''),
      });
    },
  };

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    let body = '';
    for await (const chunk of request) body += chunk;
    const handler = handlers[url.pathname];
    if (handler === undefined) json(response, 404, {});
    else await handler(request, response, url, body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  rules.servers = [origin];
  rules.authorizePage = `${origin}/authorize`;
  return {
    origin,
    url: `${origin}/mcp`,
    rules,
    seen,
    tokens,
    endGrants() {
      access.clear();
      refresh.clear();
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function resultOf(method: string, more: string): unknown {
  if (method === 'initialize') {
    return { protocolVersion: '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'guarded', version: '1' } };
  }
  if (method === 'tools/list') return { tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] };
  return { content: [{ type: 'text', text: `somebody${more}` }] };
}

function json(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(value));
}
