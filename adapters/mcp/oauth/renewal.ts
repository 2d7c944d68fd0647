import { OAuthErrorCode, refreshAuthorization, type OAuthTokens as SdkTokens } from '@modelcontextprotocol/client';
import type { HttpClient } from '../../../ports/http.ts';
import type { McpHttpServer } from '../../../ports/mcp.ts';
import { failed, loginFailure, refusalCode } from './failures.ts';
import { guardedFetch } from './guarded-fetch.ts';
import type { OAuthAuthority, OAuthRecord, OAuthRecords, OAuthTokens } from './records.ts';

export interface Renewal {
  readonly server: McpHttpServer;
  readonly key: string;
  readonly records: OAuthRecords;
  readonly http: HttpClient;
  readonly now: () => number;
  readonly learn: (secrets: readonly string[]) => void;
}

const REVOKE_MS = 10_000;
/** A longer one fits no header, and could not be hidden in text that comes in pieces. */
const MAX_SECRET_CHARS = 16 * 1024;
/** What is said to hold longer is asked about again by then. */
const MAX_LIFE_SECONDS = 10 * 365 * 86_400;
/** An answer that ends the grant: the refresh token will never work again. */
const FINAL: readonly string[] = [OAuthErrorCode.InvalidGrant, OAuthErrorCode.InvalidClient, OAuthErrorCode.UnauthorizedClient];

/**
 * Gets new tokens in place of `used`, once for all processes. Resolves with the login as it now is: without tokens when
 * the authorization server ended it. Rejects with `McpError` when it could not be asked.
 */
export async function renewTokens(
  { server, key, records, http, now, learn }: Renewal,
  used: string,
  signal: AbortSignal,
): Promise<OAuthRecord | undefined> {
  return records.exclusively(key, signal, async () => {
    const record = await records.get(key);
    // Somebody else was faster.
    if (record?.tokens?.refresh === undefined || record.tokens.access !== used) return record;
    const { tokens, authority, client, resource } = record;
    if (authority === undefined || client === undefined || tokens.refresh === undefined) return record;
    // The token that is used up by asking is gone if its successor cannot be kept: that it can is seen before.
    await records.put(record);
    const sentAt = now();
    let next: OAuthRecord;
    try {
      const answer = await refreshAuthorization(authority.url, {
        ...metadataOf(authority),
        clientInformation: client,
        refreshToken: tokens.refresh,
        ...(resource !== undefined && { resource }),
        fetchFn: guardedFetch(http, signal),
      });
      next = { ...record, tokens: tokensOf(server, answer, { sentAt, scope: tokens.scope, refresh: tokens.refresh }) };
    } catch (error) {
      if (!FINAL.includes(refusalCode(error) ?? '')) throw loginFailure(error, server, 'renewing the login');
      const { tokens: _gone, ...rest } = record;
      next = rest;
    }
    learn(secretsOf(next));
    await records.put(next);
    return next;
  });
}

/** Tells the authorization server that the tokens are not used any more. Resolves with whether it took that. */
export async function revokeTokens(record: OAuthRecord, http: HttpClient, signal: AbortSignal): Promise<boolean> {
  const { authority, client, tokens } = record;
  if (authority?.revocation_endpoint === undefined || client === undefined || tokens === undefined) return false;
  if (!isConfidential(authority.revocation_endpoint)) return false;
  const fetch = guardedFetch(http, AbortSignal.any([signal, AbortSignal.timeout(REVOKE_MS)]));
  const taken = authority.token_endpoint_auth_methods_supported ?? [];
  const method = client.token_endpoint_auth_method ?? ['client_secret_basic', 'client_secret_post'].find((each) => taken.includes(each));
  const isBasic = client.client_secret !== undefined && method !== 'client_secret_post';
  const secret = client.client_secret !== undefined && !isBasic ? { client_secret: client.client_secret } : {};
  const body = new URLSearchParams({
    token: tokens.refresh ?? tokens.access,
    token_type_hint: tokens.refresh === undefined ? 'access_token' : 'refresh_token',
    ...(isBasic ? {} : { client_id: client.client_id, ...secret }),
  });
  const pair = [client.client_id, client.client_secret ?? ''].map(encodeURIComponent).join(':');
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    ...(isBasic && { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }),
  };
  try {
    return (await fetch(authority.revocation_endpoint, { method: 'POST', headers, body })).ok;
  } catch {
    return false;
  }
}

/** The tokens of an answer; `before` holds where the answer is silent. Throws `McpError` for what cannot be used as a bearer token. */
export function tokensOf(
  server: McpHttpServer,
  answer: SdkTokens,
  before: { readonly sentAt: number; readonly scope: string | undefined; readonly refresh?: string },
): OAuthTokens {
  if (answer.token_type.toLowerCase() !== 'bearer') throw failed(server, 'its authorization server gave no bearer token');
  const access = usableSecret(server, 'access_token', answer.access_token);
  const refresh = answer.refresh_token || before.refresh;
  const scope = answer.scope ?? before.scope;
  const { expires_in: seconds } = answer;
  return {
    access,
    ...(refresh !== undefined && { refresh: usableSecret(server, 'refresh_token', refresh) }),
    // No time at all, and one that was over before it began, say nothing: the server will refuse what has ended.
    ...(seconds !== undefined && seconds > 0 && { expiresAt: before.sentAt + Math.min(seconds, MAX_LIFE_SECONDS) * 1000 }),
    ...(scope !== undefined && { scope }),
  };
}

/** Throws `McpError` for what an authorization server gave and nobody could send or hide. */
export function usableSecret(server: McpHttpServer, field: string, value: string): string {
  if (value.length <= MAX_SECRET_CHARS && /^[\x20-\x7e]+$/.test(value)) return value;
  const limit = `1 to ${MAX_SECRET_CHARS} printable ASCII characters`;
  throw failed(server, `the ${field} that its authorization server gave has to be ${limit}, and has ${value.length} characters`);
}

/** Nobody on the way reads what is sent there. */
export function isConfidential(address: string): boolean {
  const url = URL.parse(address);
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname));
}

/** Everything of a login that must never be shown. */
export function secretsOf({ tokens, client }: OAuthRecord): readonly string[] {
  return [tokens?.access, tokens?.refresh, client?.client_secret].filter((each) => each !== undefined);
}

type Metadata = NonNullable<Parameters<typeof refreshAuthorization>[1]['metadata']>;

/** What the SDK reads of the metadata when it asks for tokens. */
function metadataOf(authority: OAuthAuthority): { readonly metadata?: Metadata } {
  if (authority.token_endpoint === undefined) return {};
  return { metadata: { ...authority, authorization_endpoint: authority.url, response_types_supported: ['code'] } as unknown as Metadata };
}
