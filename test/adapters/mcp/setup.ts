import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHttpClient, hostPort } from '../../../adapters/http/index.ts';
import { createMcpConnector, type McpConnectorOptions } from '../../../adapters/mcp/index.ts';
import { childEnvironment } from '../../../adapters/process/environment.ts';
import { openProcessTrees } from '../../../adapters/process/trees.ts';
import { createRedactor, REDACTION_REACH } from '../../../core/redact/redactor.ts';
import type { HttpClient } from '../../../ports/http.ts';
import type { McpConnection, McpConnector, McpHttpServer, McpStdioServer } from '../../../ports/mcp.ts';

export const SERVERS = fileURLToPath(new URL('../../mcp/servers/', import.meta.url));
/** A secret that the test's redactor knows. */
export const SECRET = 'sk-scripted-0123456789abcdef';

export interface McpSetup {
  readonly connector: McpConnector;
  readonly folder: string;
  readonly seen: { readonly stderr: string[]; readonly noise: string[]; readonly stripped: string[] };
  stdio(script?: Readonly<Record<string, unknown>>, more?: Partial<McpStdioServer>): McpStdioServer;
  http(url: string, more?: Partial<McpHttpServer>): McpHttpServer;
  /** Connects, and closes with the set-up. */
  connect(server: McpStdioServer | McpHttpServer): Promise<McpConnection>;
  close(): Promise<void>;
}

const COMMON = {
  name: 'scripted',
  origin: 'operator',
  timeoutMs: 10_000,
  maxResponseBytes: 1024 * 1024,
  maxResultChars: 200_000,
  artifactRoots: [],
  autoApprove: false,
  approve: 'register',
} as const;

/** A connector over the real parts, as the host puts it together. */
export function setUpMcp(more: Partial<McpConnectorOptions> & { readonly environment?: Record<string, string> } = {}): McpSetup {
  const folder = mkdtempSync(join(tmpdir(), 'odek-mcp-'));
  const clients: HttpClient[] = [];
  const connections: McpConnection[] = [];
  const seen = { stderr: [] as string[], noise: [] as string[], stripped: [] as string[] };
  const { environment = {}, ...options } = more;
  const redactor = createRedactor([SECRET]);
  const connector = createMcpConnector({
    version: '9.9.9',
    childEnvironment: (added) => childEnvironment({ ...process.env, ...environment }, added),
    trees: openProcessTrees(join(folder, 'servers')),
    redaction: { text: redactor.text, reach: REDACTION_REACH },
    http(server) {
      const client = createHttpClient({ mode: 'guarded', allowHosts: server.origin === 'operator' ? [hostPort(new URL(server.url))] : [] });
      clients.push(client);
      return client;
    },
    observer: {
      stderr: (_server, line) => seen.stderr.push(line),
      noise: (_server, line) => seen.noise.push(line),
      stripped: (_server, names) => seen.stripped.push(...names),
    },
    ...options,
  });
  return {
    connector,
    folder,
    seen,
    stdio: (script = {}, given = {}) => ({
      ...COMMON,
      protocol: '2025-03-26',
      transport: 'stdio',
      command: process.execPath,
      args: [join(SERVERS, 'stdio.mjs'), JSON.stringify(script)],
      env: {},
      cwd: folder,
      ...given,
    }),
    http: (url, given = {}) => ({ ...COMMON, protocol: '2025-03-26', transport: 'http', url, ...given }),
    async connect(server) {
      const connection = await connector.connect(server, new AbortController().signal);
      connections.push(connection);
      return connection;
    },
    async close() {
      await Promise.all(connections.map((connection) => connection.close()));
      await Promise.all(clients.map((client) => client.close()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const live = (): AbortSignal => new AbortController().signal;

/** The text of a result's only part. */
export function textOf(result: { readonly content: readonly { readonly type: string; readonly text?: string }[] }): string {
  return result.content[0]?.text ?? '';
}

export async function until(condition: () => boolean, ms = 5000): Promise<void> {
  const end = Date.now() + ms;
  while (!condition()) {
    if (Date.now() > end) throw new Error('what was waited for did not come');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
