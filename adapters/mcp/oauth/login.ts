import { randomBytes } from 'node:crypto';
import {
  type AuthorizationServerMetadata,
  discoverOAuthServerInfo,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  isHttpsUrl,
  OAuthError,
  type OAuthServerInfo,
  registerClient,
  selectResourceURL,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { CancelledError } from '../../../ports/errors.ts';
import type { HttpClient } from '../../../ports/http.ts';
import type { McpHttpServer } from '../../../ports/mcp.ts';
import { failed, loginFailure } from './failures.ts';
import { type Fetch, guardedFetch } from './guarded-fetch.ts';
import { type Loopback, openLoopback } from './loopback.ts';
import type { McpOAuthOptions } from './options.ts';
import type { OAuthAuthority, OAuthClientIdentity, OAuthRecord, OAuthRecords } from './records.ts';
import { isConfidential, secretsOf, tokensOf, usableSecret } from './renewal.ts';
import { allScopes, scopesOf } from './scopes.ts';

export interface LoginWork {
  readonly server: McpHttpServer;
  readonly key: string;
  readonly records: OAuthRecords;
  readonly http: HttpClient;
  readonly options: McpOAuthOptions;
  readonly show: NonNullable<McpOAuthOptions['show']>;
  /** The header `www-authenticate` of the refusal that led here; absent: the server is asked for one. */
  readonly wwwAuthenticate?: string | undefined;
}

const LOGIN_MS = 5 * 60_000;
const STATE_BYTES = 32;
/** A terminal shows it, and a person copies it. */
const MAX_ADDRESS_CHARS = 16 * 1024;
const ONCE = ['state', 'code', 'iss', 'error'];
/** Any request will do: a server that wants a login answers 401 to all. */
const PING = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

/**
 * Lets a person log in at the server's authorization server, and keeps the tokens. Rejects with `McpError`
 * `mcp_login_failed`, or with `CancelledError` when `signal` fires.
 */
export async function logIn(work: LoginWork, signal: AbortSignal): Promise<OAuthRecord> {
  const { server, key, records, options } = work;
  const limitMs = options.loginMs ?? LOGIN_MS;
  const limit = AbortSignal.timeout(limitMs);
  const until = AbortSignal.any([signal, limit]);
  const before = await records.get(key);
  const settings = options.settings(server);
  const loopback = await openLoopback(portsFor(settings.port, before?.client)).catch(() => {
    throw failed(
      server,
      `no port of this machine is free for the login${settings.port === undefined ? '' : `: ${settings.port} is in use`}`,
    );
  });
  try {
    const record = await obtain({ ...work, before, loopback, fetch: guardedFetch(work.http, until) }, until);
    options.learn(secretsOf(record));
    // A renewal of the login before may be on its way: its outcome must not take this one's place.
    await records.exclusively(key, signal, () => records.put(record));
    return record;
  } catch (error) {
    if (signal.aborted) throw new CancelledError();
    if (limit.aborted) throw failed(server, `nobody logged in within ${limitMs} ms`);
    throw loginFailure(error, server, 'the login');
  } finally {
    loopback.close();
  }
}

interface Obtaining extends LoginWork {
  readonly before: OAuthRecord | undefined;
  readonly loopback: Loopback;
  readonly fetch: Fetch;
}

async function obtain(work: Obtaining, until: AbortSignal): Promise<OAuthRecord> {
  const { server, key, before, loopback, options, fetch } = work;
  const challenge = await challengeOf(work);
  const info = await discoverOAuthServerInfo(server.url, {
    ...(challenge.resourceMetadataUrl !== undefined && { resourceMetadataUrl: challenge.resourceMetadataUrl }),
    fetchFn: fetch,
  });
  const metadata = info.authorizationServerMetadata;
  checkMetadata(server, metadata);
  // The resource is sent as its metadata spell it; the SDK compares it with the server's address.
  const selected = await selectResourceURL(server.url, {} as Parameters<typeof selectResourceURL>[1], info.resourceMetadata);
  const resource = selected === undefined ? undefined : (info.resourceMetadata?.resource ?? selected.href);
  const scope = scopeOf(work, info, challenge.scope);
  const client = await clientOf(work, info, scope);
  options.learn(client.client_secret === undefined ? [] : [client.client_secret]);
  const authorizationServerUrl = String(info.authorizationServerUrl);
  const state = randomBytes(STATE_BYTES).toString('base64url');
  const { authorizationUrl, codeVerifier } = await startAuthorization(authorizationServerUrl, {
    ...(metadata && { metadata }),
    clientInformation: client,
    redirectUrl: loopback.redirectUri,
    state,
    ...(scope !== undefined && { scope }),
    ...(resource !== undefined && { resource }),
  });
  checkBrowserAddress(server, authorizationUrl);
  const { host: tokenHost } = new URL(metadata?.token_endpoint ?? authorizationServerUrl);

  const arrived = loopback.wait(state, until);
  arrived.catch(() => {});
  await work.show({ server, url: authorizationUrl.href, host: authorizationUrl.host, tokenHost, scope });
  const returned = await arrived;
  const repeated = ONCE.find((name) => returned.getAll(name).length > 1);
  if (repeated !== undefined) throw failed(server, `the browser brought ${repeated} more than once`);
  const iss = returned.get('iss') ?? undefined;
  const isIssSupported = metadata?.authorization_response_iss_parameter_supported === true;
  // Before anything else of the answer is looked at: another server may have sent it.
  validateAuthorizationResponseIssuer({ iss, expectedIssuer: metadata?.issuer, issParameterSupported: isIssSupported });
  const code = returned.get('code');
  if (code === null) throw new OAuthError(returned.get('error') ?? 'no_code', 'refused');
  const sentAt = options.now();
  const answer = await exchangeAuthorization(authorizationServerUrl, {
    ...(metadata && { metadata }),
    clientInformation: client,
    authorizationCode: code,
    ...(iss !== undefined && { iss }),
    codeVerifier,
    redirectUri: loopback.redirectUri,
    ...(resource !== undefined && { resource }),
    fetchFn: fetch,
  });
  const { wanted: _met, ...kept } = before ?? {};
  return {
    ...kept,
    key,
    server: server.name,
    url: server.url,
    authority: authorityOf(info),
    client,
    ...(resource !== undefined && { resource }),
    tokens: tokensOf(server, answer, { sentAt, scope }),
  };
}

/** What the server says when it refuses: where its metadata are, and which scopes it wants. */
async function challengeOf({ server, fetch, wwwAuthenticate }: Obtaining): Promise<ReturnType<typeof extractWWWAuthenticateParams>> {
  if (wwwAuthenticate !== undefined) return paramsOf(wwwAuthenticate);
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const response = await fetch(server.url, { method: 'POST', headers, body: PING });
  return response.status === 401 ? paramsOf(response.headers.get('www-authenticate') ?? '') : {};
}

function paramsOf(header: string): ReturnType<typeof extractWWWAuthenticateParams> {
  return extractWWWAuthenticateParams(new Response(null, { headers: { 'www-authenticate': header } }));
}

function checkMetadata(server: McpHttpServer, metadata: AuthorizationServerMetadata | undefined): void {
  if (metadata === undefined) return;
  if (metadata.code_challenge_methods_supported?.includes('S256') !== true) {
    throw failed(server, 'its authorization server does not say that it supports PKCE with S256, and without that no login is begun');
  }
}

/** A browser is sent there: no other scheme, and in the clear only on this machine, which no project's server has a word on. */
function checkBrowserAddress(server: McpHttpServer, url: URL): void {
  const { length } = url.href;
  if (length > MAX_ADDRESS_CHARS) {
    throw failed(server, `the address of the login page has ${length} characters, the limit is ${MAX_ADDRESS_CHARS}`);
  }
  if (url.protocol === 'https:' || (server.origin === 'operator' && isConfidential(url.href))) return;
  throw failed(server, `the login page is not https but ${url.protocol}//${url.host}`);
}

/** The operator's choice first, then what the server asked for, then what it lists. Nothing known: none is named. */
function scopeOf({ server, options, before }: Obtaining, info: OAuthServerInfo, challenged: string | undefined): string | undefined {
  const chosen = options.settings(server).scopes;
  const asked = chosen?.join(' ') ?? challenged ?? info.resourceMetadata?.scopes_supported?.join(' ');
  const scopes = scopesOf(chosen === undefined ? allScopes(asked, before?.wanted) : asked);
  if (scopes.length === 0) return undefined;
  const offline = info.authorizationServerMetadata?.scopes_supported?.includes('offline_access') === true;
  return [...new Set([...scopes, ...(offline && chosen === undefined ? ['offline_access'] : [])])].join(' ');
}

/** The client that the operator registered, the one of an earlier login, or a new registration. */
async function clientOf(work: Obtaining, info: OAuthServerInfo, scope: string | undefined): Promise<OAuthClientIdentity> {
  const { server, options, before, loopback, fetch } = work;
  const { clientId, clientSecret } = options.settings(server);
  const metadata = info.authorizationServerMetadata;
  const isDocument = isHttpsUrl(clientId);
  const issuer = authorityOf(info).issuer;
  const isSameIssuer = before?.authority?.issuer === issuer;
  if (clientSecret !== undefined && before?.authority !== undefined && !isSameIssuer) {
    // The server alone decides whom it names; the secret was given for another one.
    const change = `its authorization server was ${before.authority.issuer} and is now ${issuer}`;
    throw failed(server, `${change}, which gets no secret of yours; if it shall, run odek mcp logout ${server.name} first`);
  }
  if (clientId !== undefined && (!isDocument || metadata?.client_id_metadata_document_supported === true)) {
    return { client_id: clientId, ...(clientSecret !== undefined && !isDocument && { client_secret: clientSecret }) };
  }
  const known = before?.client;
  if (known?.redirect_uri === loopback.redirectUri && isSameIssuer) return known;
  if (metadata !== undefined && metadata.registration_endpoint === undefined) {
    throw failed(
      server,
      `its authorization server registers nobody by itself; register odek there and set mcp_servers.${server.name}.oauth_client_id`,
    );
  }
  const registered = await registerClient(String(info.authorizationServerUrl), {
    ...(metadata && { metadata }),
    clientMetadata: {
      client_name: 'odek',
      redirect_uris: [loopback.redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: authMethodOf(metadata),
      application_type: 'native',
    },
    ...(scope !== undefined && { scope }),
    fetchFn: fetch,
  });
  const { client_id, client_secret, token_endpoint_auth_method } = registered;
  return {
    client_id,
    ...(client_secret !== undefined && { client_secret: usableSecret(server, 'client_secret', client_secret) }),
    ...(token_endpoint_auth_method !== undefined && { token_endpoint_auth_method }),
    redirect_uri: loopback.redirectUri,
  };
}

/** Without a secret where that is allowed: a program on a desk cannot keep one. */
function authMethodOf(metadata: AuthorizationServerMetadata | undefined): string {
  const offered = metadata?.token_endpoint_auth_methods_supported ?? ['none'];
  return ['none', 'client_secret_basic', 'client_secret_post'].find((each) => offered.includes(each)) ?? 'none';
}

function authorityOf({ authorizationServerUrl, authorizationServerMetadata: metadata }: OAuthServerInfo): OAuthAuthority {
  const { issuer, token_endpoint, token_endpoint_auth_methods_supported } = metadata ?? {};
  const revocation = metadata === undefined ? undefined : (metadata as { readonly revocation_endpoint?: unknown }).revocation_endpoint;
  return {
    issuer: issuer ?? String(authorizationServerUrl),
    url: String(authorizationServerUrl),
    ...(token_endpoint !== undefined && { token_endpoint }),
    ...(typeof revocation === 'string' && { revocation_endpoint: revocation }),
    ...(token_endpoint_auth_methods_supported !== undefined && { token_endpoint_auth_methods_supported }),
  };
}

/** The port of an earlier registration again, where it is free. */
function portsFor(fixed: number | undefined, known: OAuthClientIdentity | undefined): readonly number[] {
  if (fixed !== undefined) return [fixed];
  const port = known?.redirect_uri === undefined ? undefined : Number(URL.parse(known.redirect_uri)?.port);
  return port === undefined || !(port > 0) ? [0] : [port, 0];
}
