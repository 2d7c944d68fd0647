import { join } from 'node:path';
import { createHttpClient, hostPort } from '../../adapters/http/index.ts';
import { createMcpConnector } from '../../adapters/mcp/index.ts';
import { childEnvironment } from '../../adapters/process/environment.ts';
import { openProcessTrees } from '../../adapters/process/trees.ts';
import { displayText } from '../../core/approvals/display.ts';
import { REDACTION_REACH, type Redactor } from '../../core/redact/redactor.ts';
import type { HttpClient } from '../../ports/http.ts';
import type { McpHttpServer } from '../../ports/mcp.ts';
import { odekVersion } from '../cli/version.ts';
import type { HostEnvironment } from '../environment.ts';
import { guardedProxy } from '../network.ts';
import { keptEras } from './eras.ts';
import { openMcpOAuth } from './oauth.ts';
import type { OpenConnector } from './open-connector.ts';

type Place = Pick<HostEnvironment, 'config' | 'env' | 'workspace'>;

/** The connector of a host. `show` gets what servers write beside their messages, a line each, redacted and prefixed. */
export function openConnector(place: Place, redactor: Redactor, show: (line: string) => void): OpenConnector {
  const { config, env } = place;
  const clients = openGuardedClients(place);
  const oauth = openMcpOAuth({ config, workspace: place.workspace, http: clients.to, redactor });
  const connector = createMcpConnector({
    version: odekVersion(),
    childEnvironment: (added) => childEnvironment(env, added),
    trees: openProcessTrees(config.state.serversFolder),
    redaction: { text: redactor.text, reach: REDACTION_REACH },
    http: clients.to,
    eras: keptEras(join(config.state.serversFolder, 'protocols.json')),
    authorization: (server) =>
      server.tokenEnv === undefined ? oauth.authorization(server) : { token: () => config.mcp_servers[server.name]?.token },
    observer: {
      stderr: ({ name }, line) => show(`[${name}] ${displayText(line)}`),
      noise: ({ name }, line) => show(`[${name}] wrote what is no message to its standard output: ${displayText(line)}`),
    },
  });
  return { connect: connector.connect, close: clients.close };
}

/** The HTTP clients of servers, one each. */
export function openGuardedClients(place: Pick<Place, 'config' | 'env'>): {
  readonly to: (server: McpHttpServer) => HttpClient;
  close(): Promise<void>;
} {
  const clients = new Map<string, HttpClient>();
  return {
    to(server) {
      const key = JSON.stringify([server.origin, server.url]);
      const client = clients.get(key) ?? clientFor(server, place);
      clients.set(key, client);
      return client;
    },
    async close() {
      const open = [...clients.values()];
      clients.clear();
      await Promise.allSettled(open.map((client) => client.close()));
    },
  };
}

/** Guarded for everybody. An operator's server may be on a private address, a project's may not. */
function clientFor({ origin, url }: McpHttpServer, { config, env }: Pick<Place, 'config' | 'env'>): HttpClient {
  const allowHosts = origin === 'operator' ? [...config.network.allow_hosts, hostPort(new URL(url))] : [];
  return createHttpClient({ mode: 'guarded', allowHosts, ...guardedProxy({ config, env }) });
}
