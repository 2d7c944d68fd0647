import { Client, type ClientOptions, type JsonSchemaValidator, type StandardSchemaV1 } from '@modelcontextprotocol/client';
import { CancelledError } from '../../ports/errors.ts';
import { McpError, type McpProtocolChoice, type McpServer } from '../../ports/mcp.ts';
import { type Fault, isRefusal, mcpErrorOf, timedOut } from './faults.ts';
import { type RawResult, rawResultOf } from './raw-results.ts';
import type { OdekTransport } from './stdio.ts';

/** Which way of beginning a server understands: with `initialize`, or with `server/discover`. */
export type McpEra = 'legacy' | 'modern';

export interface SessionOptions {
  readonly server: McpServer;
  readonly transport: OdekTransport;
  /** `legacy`: `initialize` without asking first. */
  readonly choice: McpProtocolChoice | 'legacy';
  /** odek's version, told to the server. */
  readonly version: string;
  readonly onToolsChanged: () => void;
}

/** One life of a connection: a process from its start to its end, or one session over HTTP. */
export interface Session {
  readonly protocolVersion: string;
  readonly era: McpEra;
  readonly serverName: string;
  readonly serverVersion: string;
  readonly transport: OdekTransport;
  /** Why it ended; undefined while it can be used. */
  ending(): Fault | undefined;
  /** One page. Rejects with what the SDK or the transport gave. */
  listTools(cursor: string | undefined, options: RequestLimits): Promise<unknown>;
  /** `headers` are for a server that wants arguments repeated in them. */
  call(
    tool: string,
    input: Readonly<Record<string, unknown>>,
    headers: Readonly<Record<string, string>> | undefined,
    options: RequestLimits,
  ): Promise<RawResult>;
  close(): Promise<void>;
}

export interface RequestLimits {
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly timeout: number;
}

const OFFERED = '2025-03-26';
const LEGACY_VERSIONS = [OFFERED, '2025-11-25', '2025-06-18', '2024-11-05', '2024-10-07'];
const MODERN_VERSION = '2026-07-28';
/** How long an old server may be silent about a request that it does not know. */
const MAX_PROBE_MS = 5000;
const LISTEN_ATTEMPTS = 5;
const FIRST_LISTEN_WAIT_MS = 1000;
const METHOD_NOT_FOUND = -32601;

/** Results are read by odek itself. */
const ANYTHING: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'odek', validate: (value: unknown) => ({ value }) },
};

/** Whether a result fits the schema that a tool declares is told to the model, it never fails a call. */
const NO_VALIDATION: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator<T>(): JsonSchemaValidator<T> {
    return (input) => ({ valid: true, data: input as T, errorMessage: undefined });
  },
};

/**
 * Starts the transport and does the handshake, within `server.timeoutMs`. Rejects with `McpError`, or with
 * `CancelledError` when `signal` fires; nothing is left running then.
 */
export async function openSession(options: SessionOptions, signal: AbortSignal): Promise<Session> {
  const { server, transport } = options;
  if (signal.aborted) throw new CancelledError();
  const client = new Client({ name: 'odek', version: options.version }, clientOptions(options.choice, server.timeoutMs));
  client.setNotificationHandler('notifications/tools/list_changed', options.onToolsChanged);
  let late = false;
  const abandon = (): void => transport.abandon();
  const limit = setTimeout(() => {
    late = true;
    abandon();
  }, server.timeoutMs);
  signal.addEventListener('abort', abandon, { once: true });
  try {
    await client.connect(transport, { timeout: server.timeoutMs });
    if (signal.aborted || late) throw new Error('the handshake was given up');
  } catch (error) {
    const ending = transport.ending();
    abandon();
    if (signal.aborted) throw new CancelledError();
    throw handshakeError(error, { server, transport, late, ending });
  } finally {
    clearTimeout(limit);
    signal.removeEventListener('abort', abandon);
  }
  return sessionOf(client, options);
}

function clientOptions(choice: McpProtocolChoice | 'legacy', timeoutMs: number): ClientOptions {
  const base = { capabilities: {}, jsonSchemaValidator: NO_VALIDATION };
  if (choice === MODERN_VERSION) {
    return {
      ...base,
      supportedProtocolVersions: [MODERN_VERSION],
      versionNegotiation: { mode: { pin: MODERN_VERSION }, probe: { timeoutMs } },
    };
  }
  if (choice === 'auto') {
    const probe = { timeoutMs: Math.min(MAX_PROBE_MS, Math.ceil(timeoutMs / 2)) };
    return { ...base, supportedProtocolVersions: [MODERN_VERSION, ...LEGACY_VERSIONS], versionNegotiation: { mode: 'auto', probe } };
  }
  const first = choice === 'legacy' ? OFFERED : choice;
  return { ...base, supportedProtocolVersions: [first, ...LEGACY_VERSIONS.filter((each) => each !== first)] };
}

interface Failed {
  readonly server: McpServer;
  readonly transport: OdekTransport;
  readonly late: boolean;
  readonly ending: Fault | undefined;
}

function handshakeError(error: unknown, { server, transport, late, ending }: Failed): Error {
  const { messages, noise, firstNoise } = transport.seen;
  const doing = 'during the handshake';
  if (messages === 0 && noise > 0 && (late || ending?.kind === 'exited')) {
    const text = `the MCP server ${server.name} writes logs to standard output, where only messages belong: ${noise} such lines and no message came before ${late ? `${server.timeoutMs} ms had passed` : 'it ended'}; the first: ${JSON.stringify(firstNoise)}`;
    return new McpError('mcp_handshake_failed', text, { server: server.name, value: noise, cause: error });
  }
  if (late) return timedOut({ server, ending: undefined, doing }, error);
  const told = mcpErrorOf(error, { server, ending, doing });
  if (!(told instanceof McpError) || (told.code !== 'mcp_protocol_error' && !isRefusal(error))) return told;
  return new McpError('mcp_handshake_failed', told.message, { server: server.name, value: told.value, cause: error });
}

function sessionOf(client: Client, { transport, onToolsChanged }: SessionOptions): Session {
  const era = client.getProtocolEra() ?? 'legacy';
  const declaresTools = client.getServerCapabilities()?.tools !== undefined;
  const { name = '', version = '' } = client.getServerVersion() ?? {};
  if (era === 'modern' && client.getServerCapabilities()?.tools?.listChanged === true)
    void listenForChanges(client, transport, onToolsChanged);
  return {
    era,
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    serverName: name,
    serverVersion: version,
    transport,
    ending: transport.ending,
    async listTools(cursor, limits) {
      try {
        const params = cursor === undefined ? {} : { params: { cursor } };
        return rawResultOf(await client.request({ method: 'tools/list', ...params }, ANYTHING, limits)).value;
      } catch (error) {
        // Some servers have tools and do not declare it, so all are asked.
        if (!declaresTools && isRefusal(error) && error.code === METHOD_NOT_FOUND) return { tools: [] };
        throw error;
      }
    },
    async call(tool, input, headers, limits) {
      const params = { name: tool, arguments: input as Record<string, unknown> };
      return rawResultOf(
        await client.request({ method: 'tools/call', params }, ANYTHING, headers === undefined ? limits : { ...limits, headers }),
      );
    },
    async close() {
      await client.close().catch(() => {});
      await transport.close();
    },
  };
}

/** Servers of the newer protocol tell changes only to who listens. What was missed in between counts as a change. */
async function listenForChanges(client: Client, transport: OdekTransport, onToolsChanged: () => void): Promise<void> {
  for (let attempt = 0; attempt < LISTEN_ATTEMPTS && transport.ending() === undefined; attempt += 1) {
    try {
      const subscription = await client.listen({ toolsListChanged: true });
      if (attempt > 0) onToolsChanged();
      await subscription.closed;
    } catch (error) {
      if (isRefusal(error)) return;
    }
    await new Promise((resolve) => setTimeout(resolve, FIRST_LISTEN_WAIT_MS * 2 ** attempt).unref());
  }
}
