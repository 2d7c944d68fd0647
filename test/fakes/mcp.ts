import { CancelledError } from '../../ports/errors.ts';
import {
  type McpCallResult,
  type McpConnection,
  type McpConnectionReport,
  type McpConnector,
  McpError,
  type McpServer,
  type McpToolDefinition,
  type McpToolList,
} from '../../ports/mcp.ts';

/** Ends the scripted server, as a crash would: what runs fails, and the next call starts it again. */
export class FakeMcpExit extends Error {
  readonly exitCode: number;
  readonly stderr: string;

  constructor(exitCode: number, stderr: string) {
    super(`exit ${exitCode}`);
    this.exitCode = exitCode;
    this.stderr = stderr;
  }
}

export interface FakeMcpTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: McpToolDefinition['inputSchema'];
  readonly outputSchema?: McpToolDefinition['outputSchema'];
  readonly annotations?: McpToolDefinition['annotations'];
  /** A string is a result of one text part. Throw {@link FakeMcpExit} to end the server, {@link McpError} to fail the call. Absent: `<name> was called`. */
  readonly run?: (input: Readonly<Record<string, unknown>>, signal: AbortSignal) => unknown;
}

export interface FakeMcpServer {
  readonly tools: readonly FakeMcpTool[];
  /** One page of its listing, instead of `tools` at once. */
  readonly page?: (cursor: string | undefined) => { readonly tools: readonly FakeMcpTool[]; readonly nextCursor?: string };
  /** What is wrong with its listing. */
  readonly warnings?: readonly string[];
  /** Every connect is rejected with this. */
  readonly refuses?: Error;
  /** Every listing is rejected with this. */
  readonly failsToList?: Error;
  /** It never answers the handshake. */
  readonly silent?: boolean;
  readonly protocolVersion?: string;
  readonly serverName?: string;
  readonly serverVersion?: string;
  readonly noiseLines?: number;
  readonly stderrTail?: string;
}

export interface FakeMcp extends McpConnector {
  /** Connections that came about. */
  opened(): number;
  /** Servers that were asked for, in order. */
  readonly connects: readonly McpServer[];
  readonly calls: readonly { readonly server: string; readonly tool: string; readonly input: Readonly<Record<string, unknown>> }[];
  /** Names of servers whose connection was closed, in order. */
  readonly closed: readonly string[];
  /** Calls whose servers were told that they are cancelled. */
  readonly cancelled: readonly { readonly server: string; readonly tool: string }[];
  /** Replaces the tools of a server; its listeners are told, unless `announce` is false. */
  setTools(server: string, tools: readonly FakeMcpTool[], options?: { readonly announce?: boolean }): void;
  /** The server says that its list changed, `times` in a row (1). Listeners are told once a burst. */
  announce(server: string, times?: number): void;
  /** The server of this name ends by itself. */
  exit(server: string, exitCode?: number, stderr?: string): void;
}

interface Live {
  readonly listeners: Set<() => void>;
  readonly ending: Set<(error: McpError) => void>;
  fail(exit: FakeMcpExit): void;
}

/** Servers by name, all in memory. A server that is not named rejects `connect` with `mcp_spawn_failed`. */
export function createFakeMcp(scripted: Readonly<Record<string, FakeMcpServer>>): FakeMcp {
  const scripts = new Map(Object.entries(scripted));
  const live = new Map<string, Set<Live>>();
  const connects: McpServer[] = [];
  const calls: { server: string; tool: string; input: Readonly<Record<string, unknown>> }[] = [];
  const closed: string[] = [];
  const cancelled: { server: string; tool: string }[] = [];
  const pending = new Set<string>();
  let opened = 0;

  const announce = (name: string): void => {
    if (pending.has(name)) return;
    pending.add(name);
    queueMicrotask(() => {
      pending.delete(name);
      for (const each of live.get(name) ?? []) for (const listener of [...each.listeners]) listener();
    });
  };

  const open = (server: McpServer): McpConnection => {
    const script = (): FakeMcpServer => scripts.get(server.name) ?? { tools: [] };
    let state: McpConnectionReport['state'] = 'connected';
    let restarts = 0;
    let stderrTail = script().stderrTail ?? '';
    const self: Live = {
      listeners: new Set(),
      ending: new Set(),
      fail({ exitCode, stderr }) {
        state = 'reconnecting';
        stderrTail = stderr;
        for (const end of [...self.ending]) end(exited(server, exitCode, stderr));
      },
    };
    const peers = live.get(server.name) ?? new Set();
    live.set(server.name, peers.add(self));
    const ready = (): void => {
      if (state === 'closed') throw new McpError('mcp_not_connected', `the MCP server ${server.name} is closed`, { server: server.name });
      if (state === 'reconnecting') restarts += 1;
      state = 'connected';
    };

    return {
      server,
      async listTools(signal): Promise<McpToolList> {
        if (signal.aborted) throw new CancelledError();
        ready();
        const { tools, warnings = [], failsToList, page = () => ({ tools }) } = script();
        if (failsToList !== undefined) throw failsToList;
        return listOf(page, warnings);
      },
      async call(tool, input, { signal }): Promise<McpCallResult> {
        if (signal.aborted) throw new CancelledError();
        ready();
        calls.push({ server: server.name, tool, input });
        const found = script().tools.find(({ name }) => name === tool);
        if (found === undefined) {
          throw new McpError('mcp_request_refused', `the MCP server ${server.name} has no tool ${tool}`, {
            server: server.name,
            tool,
            value: tool,
          });
        }
        const { promise, resolve, reject } = Promise.withResolvers<McpCallResult>();
        const stop = new AbortController();
        const limit = setTimeout(() => reject(timedOut(server, tool)), server.timeoutMs);
        const cancel = (): void => {
          cancelled.push({ server: server.name, tool });
          reject(new CancelledError());
        };
        signal.addEventListener('abort', cancel, { once: true });
        self.ending.add(reject);
        void (async () => resultOf(await (found.run ?? (() => `${tool} was called`))(input, stop.signal)))().then(
          (result) => {
            if (result.bytes <= server.maxResponseBytes) return resolve(result);
            state = 'reconnecting';
            reject(tooLarge(server, tool, result.bytes));
          },
          (error) => (error instanceof FakeMcpExit ? self.fail(error) : reject(error)),
        );
        return promise.finally(() => {
          clearTimeout(limit);
          signal.removeEventListener('abort', cancel);
          self.ending.delete(reject);
          stop.abort();
        });
      },
      onToolsChanged(listener) {
        const own = (): void => listener();
        self.listeners.add(own);
        return () => void self.listeners.delete(own);
      },
      report: () => ({
        state,
        protocolVersion: script().protocolVersion ?? '2025-03-26',
        serverName: script().serverName ?? server.name,
        serverVersion: script().serverVersion ?? '1.0.0',
        noiseLines: script().noiseLines ?? 0,
        stderrTail,
        connectMs: 1,
        restarts,
      }),
      async close() {
        if (state === 'closed') return;
        state = 'closed';
        peers.delete(self);
        closed.push(server.name);
        const why = new McpError('mcp_not_connected', `the MCP server ${server.name} was closed`, { server: server.name });
        for (const end of [...self.ending]) end(why);
      },
    };
  };

  return {
    opened: () => opened,
    connects,
    calls,
    closed,
    cancelled,
    async connect(server, signal) {
      if (signal.aborted) throw new CancelledError();
      connects.push(server);
      const script = scripts.get(server.name);
      if (script === undefined) {
        throw new McpError('mcp_spawn_failed', `the MCP server ${server.name} could not be started: no such script`, {
          server: server.name,
        });
      }
      if (script.refuses !== undefined) throw script.refuses;
      if (script.silent === true) await silence(server, signal);
      opened += 1;
      return open(server);
    },
    setTools(name, tools, { announce: tell = true } = {}) {
      scripts.set(name, { ...(scripts.get(name) ?? {}), tools });
      if (tell) announce(name);
    },
    announce(name, times = 1) {
      for (let said = 0; said < times; said += 1) announce(name);
    },
    exit(name, exitCode = 1, stderr = '') {
      for (const each of live.get(name) ?? []) each.fail(new FakeMcpExit(exitCode, stderr));
    },
  };
}

/** A server's configuration with the defaults; what a test is about is given. */
export function fakeMcpServer(given: Partial<Extract<McpServer, { transport: 'stdio' }>> & { readonly name: string }): McpServer {
  return {
    origin: 'operator',
    protocol: '2025-03-26',
    timeoutMs: 30_000,
    maxResponseBytes: 10 * 1024 * 1024,
    maxResultChars: 200_000,
    artifactRoots: [],
    autoApprove: false,
    approve: 'register',
    transport: 'stdio',
    command: 'fake',
    args: [],
    env: {},
    cwd: '/',
    ...given,
  };
}

const MAX_PAGES = 1000;
const MAX_TOOLS = 10_000;

function listOf(page: NonNullable<FakeMcpServer['page']>, given: readonly string[]): McpToolList {
  const byName = new Map<string, McpToolDefinition>();
  const seen = new Set<string>();
  const warnings = [...given];
  let cursor: string | undefined;
  for (let pages = 1; ; pages += 1) {
    const { tools, nextCursor } = page(cursor);
    for (const tool of tools) if (!byName.has(tool.name) && byName.size < MAX_TOOLS) byName.set(tool.name, definitionOf(tool));
    if (nextCursor === undefined) break;
    if (seen.has(nextCursor) || pages === MAX_PAGES || byName.size === MAX_TOOLS) {
      warnings.push(`the list of tools does not end by itself: it was left after page ${pages}`);
      break;
    }
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return { tools: [...byName.values()], warnings };
}

function definitionOf({
  name,
  description = `The tool ${name}.`,
  inputSchema = { type: 'object' },
  outputSchema,
  annotations,
}: FakeMcpTool): McpToolDefinition {
  return {
    name,
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(annotations === undefined ? {} : { annotations }),
  };
}

function resultOf(value: unknown): McpCallResult {
  if (typeof value === 'string')
    return { content: [{ type: 'text', text: value }], isError: false, bytes: Buffer.byteLength(JSON.stringify(value)) };
  return value as McpCallResult;
}

function silence(server: McpServer, signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  const limit = setTimeout(() => reject(timedOut(server, 'initialize')), server.timeoutMs);
  signal.addEventListener('abort', () => reject(new CancelledError()), { once: true });
  return promise.finally(() => clearTimeout(limit));
}

function timedOut({ name, timeoutMs }: McpServer, tool: string): McpError {
  return new McpError('mcp_timeout', `${tool} of the MCP server ${name} took longer than ${timeoutMs} ms`, {
    server: name,
    tool,
    limit: timeoutMs,
  });
}

function tooLarge({ name, maxResponseBytes }: McpServer, tool: string, bytes: number): McpError {
  return new McpError('mcp_response_too_large', `${tool} of the MCP server ${name} answered with more than ${maxResponseBytes} bytes`, {
    server: name,
    tool,
    value: bytes,
    limit: maxResponseBytes,
  });
}

function exited({ name }: McpServer, exitCode: number, stderr: string): McpError {
  return new McpError('mcp_server_exited', `the MCP server ${name} ended with exit code ${exitCode}: ${stderr}`, {
    server: name,
    value: exitCode,
  });
}
