import { CancelledError } from '../../ports/errors.ts';
import {
  type McpCallResult,
  type McpConnection,
  type McpConnectionReport,
  McpError,
  type McpServer,
  type McpToolDefinition,
  type McpToolList,
} from '../../ports/mcp.ts';
import { createBackOff } from './back-off.ts';
import { createBurst } from './burst.ts';
import { callResultOf, shown } from './content.ts';
import { isSessionGone, mcpErrorOf, TransportFault } from './faults.ts';
import { listAll } from './listing.ts';
import { headersOf, type ParameterHeader, parameterHeadersOf } from './parameter-headers.ts';
import type { Session } from './session.ts';

export interface ConnectionOptions {
  readonly server: McpServer;
  /** Starts or dials the server. `onToolsChanged` is told what it says of its list. */
  readonly open: (onToolsChanged: () => void, signal: AbortSignal) => Promise<Session>;
}

/** Opens a connection that lasts longer than one process or one session. Rejects as `open` does. */
export async function openConnection({ server, open }: ConnectionOptions, signal: AbortSignal): Promise<McpConnection> {
  const listeners = new Set<() => void>();
  const inFlight = new Set<AbortController>();
  const whole = new AbortController();
  const backOff = createBackOff();
  const burst = createBurst(() => {
    for (const listener of [...listeners]) listener();
  });
  let known: ReadonlyMap<string, KnownTool> = new Map();
  let reopening: Promise<Session> | undefined;
  let closing: Promise<void> | undefined;
  let retired = false;
  let restarts = 0;
  let noiseBefore = 0;

  const startedAt = performance.now();
  let session = await open(burst.notice, signal);
  const connectMs = performance.now() - startedAt;

  const notConnected = (why: string, cause?: unknown): McpError =>
    new McpError('mcp_not_connected', `the MCP server ${server.name} ${why}`, { server: server.name, cause });

  /** The end of a life is counted once, however often the next one has to be tried. */
  const retire = (): void => {
    if (retired) return;
    retired = true;
    noiseBefore += session.transport.seen.noise;
    backOff.ended();
    void session.close();
  };

  const reopen = async (): Promise<Session> => {
    retire();
    const { ms, resting } = backOff.wait();
    if (resting) throw notConnected(`failed again and again and is left alone for ${Math.ceil(ms / 1000)} s`, backOff.lastFailure());
    await pause(ms, whole.signal);
    restarts += 1;
    try {
      session = await open(burst.notice, whole.signal);
    } catch (error) {
      backOff.failed(error);
      throw error;
    }
    retired = false;
    burst.notice();
    return session;
  };

  const ready = async (stop: AbortSignal): Promise<Session> => {
    if (closing !== undefined) throw notConnected('is closed');
    if (session.ending() === undefined) return session;
    if (reopening === undefined) {
      reopening = reopen().finally(() => {
        reopening = undefined;
      });
      // Whoever asked may be gone when it fails.
      reopening.catch(() => {});
    }
    return unlessStopped(reopening, stop);
  };

  /** Runs one request; what its caller cancels, and what the end of the connection cancels, is told to the server. */
  const request = async <T>(caller: AbortSignal, work: (stop: AbortSignal) => Promise<T>): Promise<T> => {
    if (caller.aborted) throw new CancelledError();
    const stop = new AbortController();
    // The reason travels to the server: it must not be the caller's.
    const cancel = (): void => stop.abort('cancelled');
    caller.addEventListener('abort', cancel, { once: true });
    inFlight.add(stop);
    try {
      return await work(stop.signal);
    } catch (error) {
      if (caller.aborted) throw new CancelledError();
      if (closing !== undefined) throw notConnected('is closed', error);
      throw error;
    } finally {
      caller.removeEventListener('abort', cancel);
      inFlight.delete(stop);
    }
  };

  const attempt = async (
    current: Session,
    tool: string,
    input: Readonly<Record<string, unknown>>,
    stop: AbortSignal,
  ): Promise<McpCallResult> => {
    try {
      const declared = known.get(tool)?.headers;
      const headers = declared === undefined ? undefined : headersOf(declared, input);
      const result = callResultOf(await current.call(tool, input, headers, { signal: stop, timeout: server.timeoutMs }));
      backOff.succeeded();
      return result;
    } catch (error) {
      throw isSessionGone(error, current.ending())
        ? new TransportFault({ kind: 'session_gone' })
        : mcpErrorOf(error, { server, tool, ending: current.ending() });
    }
  };

  const list = async (current: Session, stop: AbortSignal) => {
    const end = performance.now() + server.timeoutMs;
    const context = () => ({ server, ending: current.ending(), doing: 'tools/list' });
    try {
      const found = await listAll(
        (cursor) => current.listTools(cursor, { signal: stop, timeout: Math.max(1, end - performance.now()) }),
        (error) => mcpErrorOf(error, context()).message,
      );
      if (stop.aborted) throw new CancelledError();
      const usable = current.era === 'modern' && server.transport === 'http' ? withHeaders(found) : { list: found, headers: new Map() };
      known = new Map(
        usable.list.tools.map((tool) => [tool.name, { repeatable: isRepeatable(tool), headers: usable.headers.get(tool.name) }]),
      );
      return usable.list;
    } catch (error) {
      throw isSessionGone(error, current.ending()) ? new TransportFault({ kind: 'session_gone' }) : mcpErrorOf(error, context());
    }
  };

  /** A session that the server lost is renewed once; `repeat` says whether the request is sent again in it. */
  const inSession = async <T>(stop: AbortSignal, work: (current: Session) => Promise<T>, repeat: boolean, tool?: string): Promise<T> => {
    try {
      return await work(await ready(stop));
    } catch (error) {
      if (!isSessionGone(error, undefined)) throw error;
      const renewed = ready(stop);
      if (!repeat) {
        renewed.catch(() => {});
        throw mcpErrorOf(error, { server, ...(tool === undefined ? {} : { tool }), ending: undefined });
      }
      return work(await renewed).catch((again) => {
        throw mcpErrorOf(again, { server, ...(tool === undefined ? {} : { tool }), ending: undefined });
      });
    }
  };

  const end = async (): Promise<void> => {
    whole.abort();
    for (const stop of inFlight) stop.abort('closed');
    burst.stop();
    await reopening?.catch(() => {});
    await session.close();
  };

  return {
    server,
    listTools: (caller) => request(caller, (stop) => inSession(stop, (current) => list(current, stop), true)),
    call(tool, input, { signal: caller }) {
      const work = (stop: AbortSignal) =>
        inSession(stop, (current) => attempt(current, tool, input, stop), known.get(tool)?.repeatable === true, tool);
      return request(caller, work);
    },
    onToolsChanged(listener) {
      const own = (): void => listener();
      listeners.add(own);
      return () => void listeners.delete(own);
    },
    report(): McpConnectionReport {
      const { protocolVersion, serverName, serverVersion, transport } = session;
      return {
        state:
          closing !== undefined
            ? 'closed'
            : session.ending() === undefined
              ? 'connected'
              : backOff.wait().resting
                ? 'failed'
                : 'reconnecting',
        protocolVersion,
        serverName,
        serverVersion,
        noiseLines: noiseBefore + (retired ? 0 : transport.seen.noise),
        stderrTail: transport.stderrTail(),
        connectMs,
        restarts,
      };
    },
    close() {
      closing ??= end();
      return closing;
    },
  };
}

/** What a call has to know of its tool. */
interface KnownTool {
  readonly repeatable: boolean;
  readonly headers: readonly ParameterHeader[] | undefined;
}

/** A tool that asks wrongly for its arguments in headers cannot be called; the others say which they want. */
function withHeaders({ tools, warnings }: McpToolList): {
  readonly list: McpToolList;
  readonly headers: ReadonlyMap<string, readonly ParameterHeader[]>;
} {
  const headers = new Map<string, readonly ParameterHeader[]>();
  const faults: string[] = [];
  const usable = tools.filter(({ name, inputSchema }) => {
    const declared = parameterHeadersOf(inputSchema);
    if (typeof declared === 'string') faults.push(`the tool ${shown(name)} was left out: ${declared}`);
    else if (declared.length > 0) headers.set(name, declared);
    return typeof declared !== 'string';
  });
  return { list: { tools: usable, warnings: [...warnings, ...faults] }, headers };
}

/** The server says that a second call does nothing more than the first. */
function isRepeatable({ annotations = {} }: McpToolDefinition): boolean {
  const { readOnlyHint, idempotentHint } = annotations;
  return readOnlyHint === true || idempotentHint === true;
}

function unlessStopped<T>(promise: Promise<T>, stop: AbortSignal): Promise<T> {
  const { promise: stopped, reject } = Promise.withResolvers<T>();
  const cancel = (): void => reject(new CancelledError());
  if (stop.aborted) cancel();
  stop.addEventListener('abort', cancel, { once: true });
  return Promise.race([promise, stopped]).finally(() => stop.removeEventListener('abort', cancel));
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 && !signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  return unlessStopped(promise, signal).finally(() => clearTimeout(timer));
}
