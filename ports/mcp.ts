import { OdekError } from './errors.ts';
import type { JsonSchema } from './message.ts';

/** Protocol versions odek speaks as a client (MCP, DECISIONS 26). `auto` probes `server/discover` first. */
export type McpProtocolChoice = 'auto' | '2026-07-28' | '2025-11-25' | '2025-06-18' | '2025-03-26' | '2024-11-05';

interface McpServerCommon {
  /** 1 to 64 of `[A-Za-z0-9_-]`, without `__`. */
  readonly name: string;
  /** Whose configuration names it: a project's servers need a spawn approval and get no exemption from the network guard. */
  readonly origin: 'operator' | 'project';
  readonly protocol: McpProtocolChoice;
  /** Milliseconds of one request; at most 3,600,000. */
  readonly timeoutMs: number;
  /** Bytes of one message from the server; at most 64 MiB. */
  readonly maxResponseBytes: number;
  /** Characters of result text the model gets. */
  readonly maxResultChars: number;
  /** Absolute folders that may hold artifacts. Empty: every artifact is refused. */
  readonly artifactRoots: readonly string[];
  /** Operator only: no prompts for the server and its tools. */
  readonly autoApprove: boolean;
  /** `call`: each call asks, beside the approval of the registration. */
  readonly approve: 'register' | 'call';
}

/** A server that odek starts as a child process. */
export interface McpStdioServer extends McpServerCommon {
  readonly transport: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Added to the allow-listed environment; an empty string unsets. Secret-looking names are already gone. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path of the folder it runs in. */
  readonly cwd: string;
}

/** A server behind Streamable HTTP. */
export interface McpHttpServer extends McpServerCommon {
  readonly transport: 'http';
  /** Absolute http or https URL without credentials. */
  readonly url: string;
  /** Name of the variable that holds the bearer token: `MCP_` and upper case. */
  readonly tokenEnv?: string;
}

export type McpServer = McpStdioServer | McpHttpServer;

/** A tool as its server describes it. Nothing in it is trusted. */
export interface McpToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

export interface McpToolList {
  /** Of all pages, each name once, in the order of the server. */
  readonly tools: readonly McpToolDefinition[];
  /** What was wrong with the listing: a cursor that repeats, a page that failed, a cap that was met. */
  readonly warnings: readonly string[];
}

/** One part of a result. Text is the only kind a model is given whole. */
export type McpContent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio'; readonly mimeType: string; readonly bytes: number }
  | { readonly type: 'resource_link'; readonly uri: string; readonly name: string }
  | { readonly type: 'resource'; readonly uri: string; readonly text?: string; readonly mimeType?: string };

export interface McpCallResult {
  readonly content: readonly McpContent[];
  readonly structured?: unknown;
  /** The tool itself says that it failed. */
  readonly isError: boolean;
  /** Bytes of the message that carried the result. */
  readonly bytes: number;
}

/** What a connection has seen so far, for `odek mcp probe`, logs and `list_tools`. */
export interface McpConnectionReport {
  readonly state: 'connected' | 'reconnecting' | 'failed' | 'closed';
  readonly protocolVersion: string;
  readonly serverName: string;
  readonly serverVersion: string;
  /** Lines on standard output that were no message. */
  readonly noiseLines: number;
  /** The last of what the server wrote to standard error: redacted, at most 8 KiB. Empty over HTTP. */
  readonly stderrTail: string;
  /** Milliseconds from the start to the end of the handshake. */
  readonly connectMs: number;
  /** Times the server was started again, or the session was renewed. */
  readonly restarts: number;
}

/** A server that answers. What it keeps to is said at {@link McpConnector}. */
export interface McpConnection {
  readonly server: McpServer;
  listTools(signal: AbortSignal): Promise<McpToolList>;
  call(tool: string, input: Readonly<Record<string, unknown>>, options: { readonly signal: AbortSignal }): Promise<McpCallResult>;
  /** Returns what stops the listening. */
  onToolsChanged(listener: () => void): () => void;
  report(): McpConnectionReport;
  close(): Promise<void>;
}

/**
 * Connects to servers. `connect` spawns or dials, and does the handshake within `server.timeoutMs`.
 * It rejects with {@link McpError} (`mcp_spawn_failed`, `mcp_handshake_failed`, `mcp_timeout`, `mcp_unauthorized`, …),
 * or with `CancelledError` when `signal` fires, and then has left nothing running.
 *
 * Contract (the `mcp-connector` suite):
 * - `listTools` follows every cursor, within 1,000 pages and 10,000 tools, stops when a cursor repeats, and gives each name once.
 * - `call` resolves with the server's result, also one that says `isError`, and rejects with {@link McpError} otherwise.
 * - A call past its time limit rejects with `mcp_timeout`; the server is left running and later calls work.
 * - When `signal` fires, `call` rejects at once with `CancelledError`; the server is told with a neutral reason, within a bound, and a late answer is ignored.
 * - A message over `maxResponseBytes` fails the call with `mcp_response_too_large` and ends the connection in constant memory.
 * - When the server ends, its calls reject with `mcp_server_exited`, which names exit code and the last of standard error; a later call starts it again, with bounded back-off, unless it may have been repeated: nothing is ever sent twice by itself.
 * - `onToolsChanged` listeners are told once a burst, after the server said that its list changed.
 * - `close` ends the session: standard input is closed, 5 s later the whole tree is killed; over HTTP, DELETE with a short bound. Idempotent.
 */
export interface McpConnector {
  connect(server: McpServer, signal: AbortSignal): Promise<McpConnection>;
}

export type McpErrorCode =
  | 'mcp_spawn_failed'
  | 'mcp_handshake_failed'
  | 'mcp_protocol_error'
  | 'mcp_timeout'
  | 'mcp_response_too_large'
  | 'mcp_server_exited'
  | 'mcp_session_lost'
  | 'mcp_unauthorized'
  | 'mcp_login_failed'
  | 'mcp_http_failed'
  | 'mcp_request_refused'
  | 'mcp_not_connected';

/** Names the server and, for a call, the tool; `limit` and `value` hold the bound and what was seen. */
export class McpError extends OdekError {
  readonly server: string;
  readonly tool: string | undefined;

  constructor(
    code: McpErrorCode,
    message: string,
    details: { server: string; tool?: string; value?: unknown; limit?: unknown; cause?: unknown },
  ) {
    super(code, message, details);
    this.server = details.server;
    this.tool = details.tool;
  }
}
