/**
 * One measured client: `node mcp-client.ts odek|sdk stdio|<url> calls|large`. Prints what its own process spent.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createHttpClient, hostPort } from '../../adapters/http/index.ts';
import { createMcpConnector } from '../../adapters/mcp/index.ts';
import { openProcessTrees } from '../../adapters/process/trees.ts';
import type { McpServer } from '../../ports/mcp.ts';

const SERVER = fileURLToPath(new URL('mcp-server.ts', import.meta.url));
const WARM_UP = 2000;
const CALLS = 8000;
const IN_FLIGHT = 16;
const MAX_BYTES = 32 * 1024 * 1024;

const [program = '', target = '', work = ''] = process.argv.slice(2);

interface Measured {
  /** Resolves with the characters of the text that came. */
  call(tool: string): Promise<number>;
  close(): Promise<void>;
}

async function openOdek(): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'odek-bench-mcp-'));
  const common = {
    name: 'bench',
    origin: 'operator',
    protocol: '2025-03-26',
    timeoutMs: 60_000,
    maxResponseBytes: MAX_BYTES,
    maxResultChars: 200_000,
    artifactRoots: [],
    autoApprove: false,
    approve: 'register',
  } as const;
  const http = target === 'stdio' ? undefined : createHttpClient({ mode: 'guarded', allowHosts: [hostPort(new URL(target))] });
  const server: McpServer =
    target === 'stdio'
      ? { ...common, transport: 'stdio', command: process.execPath, args: [SERVER, 'stdio'], env: {}, cwd: folder }
      : { ...common, transport: 'http', url: target };
  const connector = createMcpConnector({
    version: '0.0.0',
    childEnvironment: () => ({ PATH: process.env.PATH ?? '' }),
    trees: openProcessTrees(folder),
    redaction: { text: (text) => text, reach: 0 },
    http: () => {
      if (http === undefined) throw new Error('no server is behind HTTP here');
      return http;
    },
  });
  const { signal } = new AbortController();
  const connection = await connector.connect(server, signal);
  await connection.listTools(signal);
  return {
    async call(tool) {
      const { content } = await connection.call(tool, { text: 'hello' }, { signal });
      return content[0]?.type === 'text' ? content[0].text.length : 0;
    },
    async close() {
      await connection.close();
      await http?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function openSdk(): Promise<Measured> {
  const client = new Client({ name: 'bare', version: '0.0.0' }, { capabilities: {} });
  const transport =
    target === 'stdio'
      ? new StdioClientTransport({ command: process.execPath, args: [SERVER, 'stdio'], maxBufferSize: MAX_BYTES })
      : new StreamableHTTPClientTransport(new URL(target));
  await client.connect(transport);
  await client.listTools();
  return {
    async call(tool) {
      const { content } = await client.callTool({ name: tool, arguments: { text: 'hello' } });
      return content[0]?.type === 'text' ? content[0].text.length : 0;
    },
    close: () => client.close(),
  };
}

/** `count` calls, as many in flight as a busy run has. */
async function callMany({ call }: Measured, count: number): Promise<void> {
  let left = count;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      if ((await call('echo')) !== 1024) throw new Error('another answer came than was asked for');
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const client = await (program === 'odek' ? openOdek() : openSdk());
if (work === 'calls') {
  await callMany(client, WARM_UP);
  const [cpu, start] = [cpuMs(), performance.now()];
  await callMany(client, CALLS);
  const seconds = (performance.now() - start) / 1000;
  console.log(JSON.stringify({ cpu_ms: (cpuMs() - cpu) / CALLS, calls_per_second: CALLS / seconds }));
} else {
  await callMany(client, 64);
  const before = process.resourceUsage().maxRSS;
  const length = await client.call('large');
  console.log(JSON.stringify({ beyond_kb: process.resourceUsage().maxRSS - before - length / 1024 }));
}
await client.close();
process.exit(0);
