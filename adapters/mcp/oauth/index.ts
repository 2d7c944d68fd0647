import { createHash } from 'node:crypto';
import { CancelledError } from '../../../ports/errors.ts';
import { McpError, type McpHttpServer } from '../../../ports/mcp.ts';
import type { McpAuthorization, McpChallenge } from '../http-dial.ts';
import type { McpOAuthOptions } from './options.ts';
import { createOAuthRecords, type OAuthRecord, type OAuthTokens } from './records.ts';
import { allScopes, challengedScope, missingScopes } from './scopes.ts';

export type { LoginRequest } from './options.ts';
export { OAUTH_FILE } from './records.ts';

/** A login as it can be shown. */
export interface LoginState {
  /** Milliseconds since the epoch; absent where the server did not say. */
  readonly until?: number;
  /** It goes on by itself. */
  readonly renewable: boolean;
  readonly scope?: string;
  readonly issuer: string;
}

/**
 * Logins at servers behind HTTP: authorization code with PKCE over a loopback redirect, and what follows. Tokens are
 * kept in {@link OAUTH_FILE}, for one server at one address, a project's in its folder alone.
 */
export interface McpOAuth {
  /**
   * Credentials for the server's requests: tokens are renewed before they end and when they are refused, once for all
   * processes. Where a person is needed and none can be shown anything, requests fail with `mcp_unauthorized`.
   */
  authorization(server: McpHttpServer): McpAuthorization;
  /** Lets a person log in. Rejects with `McpError` `mcp_login_failed`, or with `CancelledError` when `signal` fires. */
  login(server: McpHttpServer, signal: AbortSignal): Promise<LoginState>;
  /** Forgets the login and tells the authorization server. */
  logout(server: McpHttpServer, signal: AbortSignal): Promise<{ readonly had: boolean; readonly revoked: boolean }>;
  state(server: McpHttpServer): Promise<LoginState | undefined>;
}

/** A token that ends sooner is renewed before it is used. */
const SKEW_MS = 60_000;
/** The last time that can be written as a date. */
const LAST_DATE = 8.64e15;

export function createMcpOAuth(options: McpOAuthOptions): McpOAuth {
  const records = createOAuthRecords(options.folder);

  const keyOf = ({ origin, name, url }: McpHttpServer): string =>
    createHash('sha256')
      .update(JSON.stringify([origin, origin === 'project' ? options.place : '', name, url]))
      .digest('hex');

  const load = async (server: McpHttpServer): Promise<OAuthRecord | undefined> => {
    try {
      const record = await records.get(keyOf(server));
      if (record !== undefined) {
        options.learn([record.tokens?.access, record.tokens?.refresh, record.client?.client_secret].filter((each) => each !== undefined));
      }
      return record;
    } catch (error) {
      throw unusable(server, error);
    }
  };

  const logIn = async (server: McpHttpServer, wwwAuthenticate: string | undefined, signal: AbortSignal): Promise<OAuthRecord> => {
    const { show } = options;
    if (show === undefined) throw loginNeeded(server);
    await load(server);
    const { logIn: begin } = await import('./login.ts');
    return begin({ server, key: keyOf(server), records, http: options.http(server), options, show, wwwAuthenticate }, signal);
  };

  return {
    authorization: (server) => authorizationOf(server),
    async login(server, signal) {
      return stateOf(await logIn(server, undefined, signal));
    },
    async logout(server, signal) {
      const key = keyOf(server);
      // Not in the middle of a renewal: what comes out of that would be a login again.
      const record = await records
        .exclusively(key, signal, () => records.remove(key))
        .catch((error: unknown) => {
          throw error instanceof CancelledError ? error : unusable(server, error);
        });
      if (record?.tokens === undefined) return { had: record !== undefined, revoked: false };
      const { revokeTokens } = await import('./renewal.ts');
      return { had: true, revoked: await revokeTokens(record, options.http(server), signal) };
    },
    async state(server) {
      const record = await load(server);
      return record?.tokens === undefined ? undefined : stateOf(record);
    },
  };

  function isEnding({ expiresAt }: OAuthTokens): boolean {
    return expiresAt !== undefined && expiresAt - options.now() < SKEW_MS;
  }

  function authorizationOf(server: McpHttpServer): McpAuthorization {
    const key = keyOf(server);
    let loaded: Promise<OAuthRecord | undefined> | undefined;
    /** The token whose renewal failed, or that is short-lived from the start: it is used as it is until the server refuses it. */
    let given: string | undefined;

    const reload = (): Promise<OAuthRecord | undefined> => {
      loaded = load(server);
      return loaded;
    };
    const renewed = async (used: string, signal: AbortSignal): Promise<OAuthRecord | undefined> => {
      const { renewTokens } = await import('./renewal.ts');
      const { now, learn } = options;
      const record = await renewTokens({ server, key, records, http: options.http(server), now, learn }, used, signal).catch(
        (error: unknown) => {
          throw error instanceof McpError || error instanceof CancelledError ? error : unusable(server, error);
        },
      );
      loaded = Promise.resolve(record);
      if (record?.tokens !== undefined && isEnding(record.tokens)) given = record.tokens.access;
      return record;
    };

    const token = async (signal: AbortSignal): Promise<string | undefined> => {
      // Most servers want none: what is wrong with the file is told when one refuses.
      const tokens = (await (loaded ?? reload()).catch(() => undefined))?.tokens;
      if (tokens?.refresh === undefined || !isEnding(tokens) || given === tokens.access) return tokens?.access;
      try {
        return (await renewed(tokens.access, signal))?.tokens?.access;
      } catch (error) {
        if (error instanceof CancelledError) throw error;
        given = tokens.access;
        return tokens.access;
      }
    };

    /** More scopes than the login has: only a new login gets them. */
    const stepUp = async (record: OAuthRecord | undefined, challenge: McpChallenge, signal: AbortSignal): Promise<boolean> => {
      const wanted = challengedScope(challenge.wwwAuthenticate);
      const missing = missingScopes(wanted, record?.tokens?.scope);
      // It has been granted them already, or does not say what it wants: another login would change nothing.
      if (record === undefined || missing.length === 0) return false;
      const chosen = options.settings(server).scopes?.join(' ');
      const beyond = chosen === undefined ? [] : missingScopes(wanted, chosen);
      if (beyond.length > 0) throw loginNeeded(server, beyond, true);
      if (chosen === undefined) await remember(wanted, signal);
      if (options.show === undefined) throw loginNeeded(server, missing);
      loaded = Promise.resolve(await logIn(server, challenge.wwwAuthenticate, signal));
      return true;
    };

    /** For the next login. The record is read once more: somebody may have renewed it since. */
    const remember = (wanted: string | undefined, signal: AbortSignal): Promise<void> =>
      records.exclusively(key, signal, async () => {
        const record = await records.get(key);
        const all = allScopes(record?.wanted, record?.tokens?.scope, wanted);
        if (record !== undefined && all !== undefined && all !== record.wanted) await records.put({ ...record, wanted: all });
      });

    return {
      token,
      async renew(challenge, signal) {
        const before = (await loaded?.catch(() => undefined))?.tokens?.access;
        const record = await reload();
        const held = record?.tokens;
        if (held !== undefined && held.access !== before) return true;
        if (challenge.status === 403) return stepUp(record, challenge, signal);
        if (held?.refresh !== undefined && (await renewed(held.access, signal))?.tokens !== undefined) return true;
        loaded = Promise.resolve(await logIn(server, challenge.wwwAuthenticate, signal));
        return true;
      },
    };
  }
}

function stateOf({ tokens, authority }: OAuthRecord): LoginState {
  return {
    ...(tokens?.expiresAt !== undefined && { until: Math.min(tokens.expiresAt, LAST_DATE) }),
    renewable: tokens?.refresh !== undefined,
    ...(tokens?.scope !== undefined && { scope: tokens.scope }),
    issuer: authority?.issuer ?? '',
  };
}

/** `isBeyond`: the operator's choice of scopes stands in the way. */
function loginNeeded({ name }: McpHttpServer, scopes: readonly string[] = [], isBeyond = false): McpError {
  const shown = scopes.filter((each) => /^[\x21-\x7e]{1,100}$/.test(each)).slice(0, 10);
  const why = scopes.length === 0 ? 'wants a login' : `wants a login with more rights (${shown.join(' ')})`;
  const way = `run odek mcp login ${name} at a terminal`;
  const text = isBeyond
    ? `wants more rights (${shown.join(' ')}) than mcp_servers.${name}.oauth_scopes names: add them there if it shall have them, and ${way}`
    : `${why}: ${way}`;
  return new McpError('mcp_unauthorized', `the MCP server ${name} ${text}`, {
    server: name,
    ...(shown.length > 0 && { value: shown }),
  });
}

function unusable({ name }: McpHttpServer, error: unknown): McpError {
  const why = error instanceof Error ? error.message : String(error);
  return new McpError('mcp_login_failed', `the login of the MCP server ${name} cannot be used: ${why}`, { server: name });
}
