import type { HttpClient } from '../../../ports/http.ts';
import type { McpHttpServer } from '../../../ports/mcp.ts';

/** What the operator says about logging in at one server. */
export interface OAuthSettings {
  /** A client id that was registered beforehand, or the https address of a client's metadata document. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Asked for in place of what the server names. */
  readonly scopes?: readonly string[];
  /** The port of the loopback redirect, where the registration names one. */
  readonly port?: number;
}

/** What a person needs for a login. Nothing in it is secret. */
export interface LoginRequest {
  readonly server: McpHttpServer;
  /** Where the browser has to go: https, or http on this machine. */
  readonly url: string;
  /** Host of that address: who asks for the password. */
  readonly host: string;
  /** Host that gets what the browser brings back, and gives the tokens: not always the one that is logged in at. */
  readonly tokenHost: string;
  readonly scope: string | undefined;
}

export interface McpOAuthOptions {
  /** The state folder. */
  readonly folder: string;
  /** Absolute path of the working directory: a login of a project's server counts there alone. */
  readonly place: string;
  /** The guarded client for everything that a login asks for, with the exemption that the server's origin gives. The caller closes it. */
  readonly http: (server: McpHttpServer) => HttpClient;
  readonly settings: (server: McpHttpServer) => OAuthSettings;
  /** Shows a person the way to the login page. Absent: nobody can be asked, and no login is begun. */
  readonly show?: (request: LoginRequest) => Promise<void> | void;
  readonly now: () => number;
  /** Told each token and secret as soon as it is known, so that it can be hidden everywhere. */
  readonly learn: (secrets: readonly string[]) => void;
  /** Milliseconds a person may take (300,000). */
  readonly loginMs?: number;
}
