import type { McpHttpServer } from '../../../../ports/mcp.ts';

/** An operator's server at this address. */
export function serverAt(url: string, more: Partial<McpHttpServer> = {}): McpHttpServer {
  return {
    name: 'guarded',
    origin: 'operator',
    transport: 'http',
    url,
    protocol: '2025-03-26',
    timeoutMs: 20_000,
    maxResponseBytes: 1024 * 1024,
    maxResultChars: 200_000,
    artifactRoots: [],
    autoApprove: false,
    approve: 'register',
    ...more,
  };
}
