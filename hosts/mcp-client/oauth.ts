import { createMcpOAuth, type LoginRequest, type McpOAuth } from '../../adapters/mcp/oauth/index.ts';
import type { Redactor } from '../../core/redact/redactor.ts';
import type { HttpClient } from '../../ports/http.ts';
import type { McpHttpServer } from '../../ports/mcp.ts';
import type { HostEnvironment } from '../environment.ts';

export interface HostOAuthParts {
  readonly config: HostEnvironment['config'];
  /** Absolute path of the working directory. */
  readonly workspace: string;
  /** Guarded, with the exemption that the server's origin gives: an authorization server elsewhere gets none. */
  readonly http: (server: McpHttpServer) => HttpClient;
  readonly redactor: Pick<Redactor, 'learn'>;
  /** Absent: a login that is needed is told and never begun. */
  readonly show?: (request: LoginRequest) => Promise<void>;
}

/** Logins at configured servers, kept in the state folder. */
export function openMcpOAuth({ config, workspace, http, redactor, show }: HostOAuthParts): McpOAuth {
  return createMcpOAuth({
    folder: config.state.home,
    place: workspace,
    http,
    now: Date.now,
    learn: redactor.learn,
    settings: ({ name }) => {
      const { client_id, client_secret, scopes, port } = config.mcp_servers[name]?.oauth ?? {};
      return {
        ...(client_id !== undefined && { clientId: client_id }),
        ...(client_secret !== undefined && { clientSecret: client_secret }),
        ...(scopes !== undefined && { scopes }),
        ...(port !== undefined && { port }),
      };
    },
    ...(show !== undefined && { show }),
  });
}
