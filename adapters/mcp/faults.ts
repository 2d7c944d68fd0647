import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { CancelledError, isOdekError } from '../../ports/errors.ts';
import { McpError, type McpErrorCode, type McpServer } from '../../ports/mcp.ts';

/** Why a process, a session or one message of it came to an end. */
export type Fault =
  | { readonly kind: 'too_large'; readonly bytes: number }
  | { readonly kind: 'exited'; readonly exitCode: number | null; readonly signal: string | null; readonly stderr: string }
  | { readonly kind: 'session_gone' }
  | { readonly kind: 'unauthorized'; readonly status: number }
  | { readonly kind: 'no_result' }
  | { readonly kind: 'bad_message'; readonly why: string }
  | { readonly kind: 'not_read'; readonly bytes: number; readonly limit: number }
  | { readonly kind: 'closed' };

export class TransportFault extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.kind);
    this.fault = fault;
  }
}

/** Text of a server in a message of ours. */
const MAX_SHOWN = 2000;
const MAX_CAUSES = 6;
export interface FaultContext {
  readonly server: McpServer;
  readonly tool?: string;
  /** Why the transport ended, if it did. */
  readonly ending: Fault | undefined;
  /** What was asked for, when it was no tool. */
  readonly doing?: string;
}

/** The server does not know the session any more, or the request was under way when that was found. */
export function isSessionGone(error: unknown, ending: Fault | undefined): boolean {
  const told = causesOf(error).some((each) => each instanceof TransportFault && each.fault.kind === 'session_gone');
  return told || (ending?.kind === 'session_gone' && isClosed(error, ending));
}

/** The server answered with a JSON-RPC error. */
export function isRefusal(error: unknown): error is ProtocolError {
  return error instanceof ProtocolError;
}

/** What the port says of an error that the SDK or a transport gave. An {@link McpError} and a `CancelledError` stay. */
export function mcpErrorOf(error: unknown, context: FaultContext): Error {
  const causes = causesOf(error);
  for (const cause of causes) {
    if (cause instanceof McpError || cause instanceof CancelledError) return cause;
    if (cause instanceof TransportFault) return ofFault(cause.fault, context, error);
  }
  if (context.ending !== undefined && isClosed(error, context.ending)) return ofFault(context.ending, context, error);
  for (const cause of causes) {
    if (isOdekError(cause)) {
      const refused = cause.code === 'host_refused' || cause.code === 'invalid_url' || cause.code === 'invalid_request';
      return fail(
        refused ? 'mcp_request_refused' : 'mcp_http_failed',
        `could not be reached: ${cause.message}`,
        context,
        cause,
        cause.value,
      );
    }
    if (cause instanceof SdkHttpError) return ofStatus(cause, context);
  }
  if (isRefusal(error)) {
    return fail('mcp_request_refused', `refused it (${error.code}): ${error.message.slice(0, MAX_SHOWN)}`, context, error, error.code);
  }
  const text = error instanceof Error ? error.message : String(error);
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return timedOut(context, error);
  return fail('mcp_protocol_error', `did not keep to the protocol: ${text.slice(0, MAX_SHOWN)}`, context, error);
}

export function timedOut(context: FaultContext, cause?: unknown): McpError {
  const limit = context.server.timeoutMs;
  return fail('mcp_timeout', `did not answer within ${limit} ms`, context, cause, undefined, limit);
}

function ofStatus(error: SdkHttpError, context: FaultContext): McpError {
  const status = error.data?.status;
  if (status === 401 || status === 403) return ofFault({ kind: 'unauthorized', status }, context, error);
  return fail('mcp_http_failed', `answered with HTTP status ${status}: ${error.message.slice(0, MAX_SHOWN)}`, context, error, status);
}

function ofFault(fault: Fault, context: FaultContext, cause: unknown): McpError {
  const { maxResponseBytes } = context.server;
  switch (fault.kind) {
    case 'too_large':
      return fail(
        'mcp_response_too_large',
        `sent a message of more than max_response_bytes=${maxResponseBytes} bytes (${fault.bytes} had come); the connection was closed`,
        context,
        cause,
        fault.bytes,
        maxResponseBytes,
      );
    case 'exited':
      return fail('mcp_server_exited', `ended ${howEnded(fault)}${tailOf(fault.stderr)}`, context, cause, fault.exitCode ?? fault.signal);
    case 'session_gone':
      return fail('mcp_session_lost', 'does not know the session any more; whether the call was performed is unknown', context, cause);
    case 'unauthorized':
      return fail('mcp_unauthorized', `did not accept the credentials (HTTP status ${fault.status})`, context, cause, fault.status);
    case 'no_result':
      return fail('mcp_protocol_error', 'ended its reply without a result', context, cause);
    case 'bad_message':
      return fail('mcp_protocol_error', `did not keep to the protocol: ${fault.why}`, context, cause);
    case 'not_read':
      return fail('mcp_request_refused', 'does not read its standard input', context, cause, fault.bytes, fault.limit);
    case 'closed':
      return fail('mcp_not_connected', 'is closed', context, cause);
  }
}

function howEnded({ exitCode, signal }: { readonly exitCode: number | null; readonly signal: string | null }): string {
  return exitCode === null ? `by ${signal ?? 'an unknown signal'}` : `with exit code ${exitCode}`;
}

function tailOf(stderr: string): string {
  const text = stderr.trim();
  return text === '' ? '' : `; the last it wrote to standard error: ${text.slice(-MAX_SHOWN)}`;
}

function fail(code: McpErrorCode, what: string, context: FaultContext, cause?: unknown, value?: unknown, limit?: unknown): McpError {
  const { server, tool, doing } = context;
  const of = tool === undefined ? '' : `, asked for ${tool},`;
  const at = tool === undefined && doing !== undefined ? ` (${doing})` : '';
  return new McpError(code, `the MCP server ${server.name}${of} ${what}${at}`, {
    server: server.name,
    ...(tool === undefined ? {} : { tool }),
    ...(value === undefined ? {} : { value }),
    ...(limit === undefined ? {} : { limit }),
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The SDK says only that the line is closed. A negotiation that fails closes it too: then the reason is its own. */
function isClosed(error: unknown, ending: Fault): boolean {
  const codes: string[] = [SdkErrorCode.ConnectionClosed, SdkErrorCode.NotConnected];
  if (ending.kind !== 'closed') codes.push(SdkErrorCode.EraNegotiationFailed);
  const told = causesOf(error).some((each) => each instanceof SdkError && codes.includes(each.code));
  return told || (error instanceof Error && error.message === 'Not connected');
}

/** The error and what it came from. The SDK keeps some of that in its `data`. */
function causesOf(error: unknown): readonly unknown[] {
  const found: unknown[] = [];
  for (let each = error; each !== undefined && each !== null && found.length < MAX_CAUSES; ) {
    found.push(each);
    const { cause, data } = each as { readonly cause?: unknown; readonly data?: { readonly cause?: unknown } };
    each = cause ?? (typeof data === 'object' && data !== null ? data.cause : undefined);
  }
  return found;
}
