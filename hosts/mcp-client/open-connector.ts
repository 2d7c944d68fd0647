import type { McpConnector } from '../../ports/mcp.ts';

export interface OpenConnector extends McpConnector {
  /** Gives the HTTP clients back. Connections are closed before, by whoever has them. */
  close(): Promise<void>;
}
