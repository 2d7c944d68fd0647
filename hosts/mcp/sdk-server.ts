import { type Implementation, McpServer, type ServerCapabilities, type ServerOptions } from '@modelcontextprotocol/server';

/** Newest first: the second is what a client with an unknown version is offered. */
const SERVED_VERSIONS: readonly string[] = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

export interface SdkServerOptions extends Omit<ServerOptions, 'capabilities' | 'supportedProtocolVersions'> {
  readonly capabilities: ServerCapabilities;
  /** The input schema of a tool, as listed. */
  schemaOf(tool: string): Record<string, unknown> | undefined;
}

/**
 * A server of the SDK whose request handlers are set by the caller, on `server.server`. Over HTTP,
 * headers that a schema asks for (`x-mcp-header`) are compared with the arguments before a handler runs.
 */
export function createSdkServer(info: Implementation, { capabilities, schemaOf, ...options }: SdkServerOptions): McpServer {
  const server = new McpServer(info, { ...options, supportedProtocolVersions: [...SERVED_VERSIONS] });
  // Given here and not above, so that no handler is set but the caller's.
  server.server.registerCapabilities(capabilities);
  server.toolInputSchemaJson = schemaOf;
  return server;
}
