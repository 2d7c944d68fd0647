/**
 * The client of the conformance suite, of odek's own parts: node client-fixture.ts <url of the scenario's server>.
 * The scenario and its context are in MCP_CONFORMANCE_*. A person's part of a login is played by following redirects.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createHttpClient, hostPort } from '../../adapters/http/index.ts';
import { createMcpConnector } from '../../adapters/mcp/index.ts';
import { createMcpOAuth, type LoginRequest } from '../../adapters/mcp/oauth/index.ts';
import { childEnvironment } from '../../adapters/process/environment.ts';
import { openProcessTrees } from '../../adapters/process/trees.ts';
import type { McpConnection, McpHttpServer, McpProtocolChoice, McpToolDefinition } from '../../ports/mcp.ts';

const {
  MCP_CONFORMANCE_SCENARIO: scenario = '',
  MCP_CONFORMANCE_CONTEXT: rawContext = '{}',
  MCP_CONFORMANCE_PROTOCOL_VERSION: version,
} = process.env;
const context = JSON.parse(rawContext) as Readonly<Record<string, unknown>>;
const url = process.argv.at(-1) ?? '';

const folder = await mkdtemp(join(tmpdir(), 'odek-conformance-'));
const server: McpHttpServer = {
  name: 'scenario',
  origin: 'operator',
  transport: 'http',
  url,
  // The older suite does not say which version it is about.
  protocol: (version ?? '2025-11-25') as McpProtocolChoice,
  timeoutMs: 60_000,
  maxResponseBytes: 10 * 1024 * 1024,
  maxResultChars: 200_000,
  artifactRoots: [],
  autoApprove: false,
  approve: 'register',
};

/** The authorization server of a scenario is another one on this machine, at a port that is known later. */
function anyLocal() {
  const clients = new Map<string, ReturnType<typeof createHttpClient>>();
  const request: ReturnType<typeof createHttpClient>['request'] = (each, signal) => {
    const place = hostPort(new URL(each.url));
    const client = clients.get(place) ?? createHttpClient({ mode: 'guarded', allowHosts: [place] });
    clients.set(place, client);
    return client.request(each, signal);
  };
  return { request, close: async () => void (await Promise.all([...clients.values()].map((client) => client.close()))) };
}

/** A person who agrees to everything. */
async function agree({ url: page }: LoginRequest): Promise<void> {
  const answer = await fetch(page, { redirect: 'manual' });
  const back = answer.headers.get('location');
  if (back === null) throw new Error(`the login page answered ${answer.status} and sends nobody back`);
  await fetch(back);
}

/** Arguments that a schema accepts, for tools that want some. */
function argumentsFor({ inputSchema }: McpToolDefinition, others: readonly McpToolDefinition[]): Record<string, unknown> {
  const { properties = {}, required = [] } = inputSchema as {
    properties?: Record<string, { type?: string; enum?: unknown[] }>;
    required?: string[];
  };
  const value = ({ type, enum: choices }: { type?: string; enum?: unknown[] }): unknown =>
    choices?.[0] ?? { number: 1, integer: 1, boolean: true, object: {}, array: [] }[type ?? ''] ?? 'text';
  // A tool that wants a schema gets that of another tool, as it came.
  const schema = others.find((each) => each.inputSchema !== inputSchema)?.inputSchema;
  return Object.fromEntries(required.map((name) => [name, name === 'schema' ? schema : value(properties[name] ?? {})]));
}

interface PlannedCall {
  readonly name: string;
  readonly arguments?: Record<string, unknown>;
}

async function use(connection: McpConnection): Promise<void> {
  const signal = AbortSignal.timeout(70_000);
  const { tools } = await connection.listTools(signal);
  const planned =
    (context.toolCalls as readonly PlannedCall[] | undefined) ??
    tools.map((tool) => ({ name: tool.name, arguments: argumentsFor(tool, tools) }));
  for (const call of planned) {
    await connection
      .call(call.name, scenario === 'tools_call' ? { a: 5, b: 3 } : (call.arguments ?? {}), { signal })
      .catch((error: unknown) => console.error(`${call.name}: ${String(error)}`));
  }
}

const http = anyLocal();
const oauth = createMcpOAuth({
  folder,
  place: folder,
  http: () => http,
  settings: () => ({
    clientId: typeof context.client_id === 'string' ? context.client_id : 'https://conformance-test.local/client-metadata.json',
    ...(typeof context.client_secret === 'string' && { clientSecret: context.client_secret }),
  }),
  show: agree,
  now: Date.now,
  learn: () => {},
});
const connector = createMcpConnector({
  version: '1.0.0',
  childEnvironment: (added) => childEnvironment({}, added),
  trees: openProcessTrees(folder),
  redaction: { text: (text) => text, reach: 0 },
  http: () => http,
  authorization: (each) => oauth.authorization(each),
});

try {
  const connection = await connector.connect(server, AbortSignal.timeout(70_000));
  try {
    await use(connection);
  } finally {
    await connection.close();
  }
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await http.close();
  await rm(folder, { recursive: true, force: true });
}
