import { createSha256 } from '../../adapters/hash/sha256.ts';
import { createFileApprovals } from '../../adapters/mcp-approvals/files.ts';
import type { Redactor } from '../../core/redact/redactor.ts';
import type { Clock } from '../../ports/clock.ts';
import { type McpConnection, McpError, type McpServer } from '../../ports/mcp.ts';
import type { Edges, HostEnvironment } from '../environment.ts';
import type { HostPolicy } from '../policy.ts';
import { createMcpApprovals, notApproved } from './approvals.ts';
import { connectAll, messageOf } from './connect-all.ts';
import { openConnector } from './connector.ts';
import type { OpenConnector } from './open-connector.ts';
import { mcpServersOf } from './servers.ts';

export interface SharedServersParts {
  readonly policy: HostPolicy;
  readonly environment: Pick<HostEnvironment, 'config' | 'env' | 'workspace'>;
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly log: Edges['log'];
  readonly signal: AbortSignal;
}

/** Servers that are connected once and used by many hosts of one process, one after the other or side by side. */
export interface SharedServers {
  /** Gives each host a view of the same connections; closing a view leaves the server running. */
  readonly connector: OpenConnector;
  /** Ends every connection. Idempotent. */
  close(): Promise<void>;
}

/** The server as one host sees it: its listeners go with it, and nothing else. */
function viewOf(server: McpServer, connection: McpConnection): McpConnection {
  const stops = new Set<() => void>();
  return {
    server,
    listTools: (signal) => connection.listTools(signal),
    call: (tool, input, options) => connection.call(tool, input, options),
    report: () => connection.report(),
    onToolsChanged(listener) {
      const stop = connection.onToolsChanged(listener);
      stops.add(stop);
      return () => {
        stops.delete(stop);
        stop();
      };
    },
    async close() {
      for (const stop of stops) stop();
      stops.clear();
    },
  };
}

/**
 * Connects every configured server. Where the policy aborts, the first that fails or is not approved rejects with
 * `ConfigError` and leaves nothing running; else it is told, and hosts get on without it.
 */
export async function openSharedServers({ policy, environment, redactor, clock, log, signal }: SharedServersParts): Promise<SharedServers> {
  const { config, env, workspace } = environment;
  const abortOnFailure = policy.mcp.connectFailure !== 'warn';
  const warn = (text: string): void => log('warning', text);
  const servers = mcpServersOf(config, workspace);
  const store = createFileApprovals({ folder: config.state.home, warn });
  const approvals = createMcpApprovals({ store, hash: createSha256(), project: workspace, env, now: clock.now, warn });
  const refused = await approvals.admitServers(servers, signal);
  if (refused.length > 0 && abortOnFailure) throw notApproved(refused, false);
  if (refused.length > 0) warn(notApproved(refused, false).message);

  const connector = openConnector(environment, redactor, (line) => log('info', line));
  const allowed = servers.filter((server) => !refused.includes(server));
  const { connected, failed } = await connectAll({ servers: allowed, connector, abortOnFailure, signal }).catch(async (error: unknown) => {
    await connector.close();
    throw error;
  });
  for (const { server, error } of failed) warn(`MCP server "${server.name}" is left out: ${messageOf(error)}`);
  const byName = new Map(connected.map(({ server, connection }) => [server.name, connection]));
  let closed: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    await Promise.allSettled(connected.map(({ connection }) => connection.close()));
    await connector.close();
  };
  return {
    connector: {
      async connect(server) {
        const connection = byName.get(server.name);
        if (connection !== undefined) return viewOf(server, connection);
        throw new McpError('mcp_not_connected', `MCP server "${server.name}" did not connect when this process started`, {
          server: server.name,
        });
      },
      close: async () => {},
    },
    close() {
      closed ??= closeAll();
      return closed;
    },
  };
}
