import type { McpConnector } from '../../ports/mcp.ts';
import type { McpConnectorOptions } from './options.ts';

export type { McpAuthorization } from './http-dial.ts';
export type { McpConnectorOptions } from './options.ts';

/** Connects to MCP servers. The protocol's code is loaded with the first `connect`. */
export function createMcpConnector(options: McpConnectorOptions): McpConnector {
  const eras = options.eras ?? new Map();
  return {
    async connect(server, signal) {
      const { connectTo } = await import('./open.ts');
      return connectTo(server, options, eras, signal);
    },
  };
}
