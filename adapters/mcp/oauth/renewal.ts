import { OAuthErrorCode, refreshAuthorization, type OAuthTokens as SdkTokens } from '@modelcontextprotocol/client';
import type { HttpClient } from '../../../ports/http.ts';
import type { McpHttpServer } from '../../../ports/mcp.ts';
import { loginFailure, refusalCode } from './failures.ts';
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
      next = { ...record, tokens: tokensOf(answer, sentAt, tokens.scope) };
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
  const fetch = guardedFetch(http, AbortSignal.any([signal, AbortSignal.timeout(REVOKE_MS)]));
  const isBasic = client.client_secret !== undefined && client.token_endpoint_auth_method !== 'client_secret_post';
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

export function tokensOf(answer: SdkTokens, sentAt: number, asked: string | undefined): OAuthTokens {
  const scope = answer.scope ?? asked;
  return {
    access: answer.access_token,
    ...(answer.refresh_token !== undefined && { refresh: answer.refresh_token }),
    ...(answer.expires_in !== undefined && { expiresAt: sentAt + answer.expires_in * 1000 }),
    ...(scope !== undefined && { scope }),
  };
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
