import { CancelledError, ConfigError } from '../../ports/errors.ts';
import type { McpConnection, McpConnector, McpServer, McpToolList } from '../../ports/mcp.ts';

/** A server that answered, with what it offers. */
export interface ConnectedServer {
  readonly server: McpServer;
  readonly connection: McpConnection;
  readonly list: McpToolList;
}

export interface FailedServer {
  readonly server: McpServer;
  readonly error: unknown;
}

export interface ConnectAllOptions {
  readonly servers: readonly McpServer[];
  readonly connector: McpConnector;
  /** True: the first failure ends the others, closes what was open and rejects. */
  readonly abortOnFailure: boolean;
  readonly signal: AbortSignal;
}

/** Servers that start at the same time. */
const AT_ONCE = 16;

/**
 * Connects to all servers at once and asks each for its tools. Rejects with `ConfigError` `mcp_connect_failed`,
 * which names the servers that failed, or with `CancelledError` when `signal` fires, and then has left nothing open.
 */
export async function connectAll({ servers, connector, abortOnFailure, signal }: ConnectAllOptions): Promise<{
  readonly connected: readonly ConnectedServer[];
  readonly failed: readonly FailedServer[];
}> {
  const others = new AbortController();
  const each = AbortSignal.any([signal, others.signal]);
  const outcomes: (ConnectedServer | FailedServer)[] = [];
  const waiting = servers.map((server, at) => ({ server, at }));
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const outcome = await connectOne(next.server, connector, each);
      outcomes[next.at] = outcome;
      if ('error' in outcome && abortOnFailure) others.abort();
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, servers.length) }, work));
  const connected = outcomes.filter((outcome) => 'connection' in outcome);
  const failed = outcomes.filter((outcome) => 'error' in outcome);
  if (signal.aborted || (abortOnFailure && failed.length > 0)) {
    await Promise.allSettled(connected.map(({ connection }) => connection.close()));
    throw signal.aborted ? new CancelledError('cancelled while MCP servers were starting') : connectFailed(failed, others.signal);
  }
  return { connected, failed };
}

async function connectOne(server: McpServer, connector: McpConnector, signal: AbortSignal): Promise<ConnectedServer | FailedServer> {
  if (signal.aborted) return { server, error: new CancelledError() };
  let connection: McpConnection | undefined;
  try {
    connection = await connector.connect(server, signal);
    return { server, connection, list: await connection.listTools(signal) };
  } catch (error) {
    await connection?.close().catch(() => {});
    return { server, error };
  }
}

function connectFailed(failed: readonly FailedServer[], others: AbortSignal): ConfigError {
  // What was ended because of the first failure has no news of its own.
  const own = failed.filter(({ error }) => !(others.aborted && error instanceof CancelledError));
  const [first = failed[0]] = own;
  const told = own.map(({ error }) => messageOf(error)).join('\n  ');
  const name = first?.server.name ?? '';
  return new ConfigError(
    'mcp_connect_failed',
    `an MCP server did not start, and nothing is left running:\n  ${told}\n  odek mcp probe ${name} shows more; mcp_servers.${name}.enabled: false turns it off`,
    { value: own.map(({ server }) => server.name), cause: first?.error },
  );
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
