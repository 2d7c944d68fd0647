import type { Clock } from '../../ports/clock.ts';
import { DeadlineError, hasCode, isOdekError } from '../../ports/errors.ts';
import type { ToolOutcome } from '../../ports/message.ts';
import type { ToolExecution, ToolResult } from '../../ports/plugin.ts';
import { mcpSource } from '../mcp/names.ts';
import { attachCallServices, type CallServices } from './attached-services.ts';
import type { ReadyCall } from './prepare.ts';
import type { CallScope } from './scope.ts';

/** What a tool gave back, or how it failed, before anything is done to the text. */
export interface RawResult {
  readonly outcome: ToolOutcome;
  readonly content: string;
  readonly source: string;
  readonly timedOut: boolean;
  /** A line for each artifact that came with it. */
  readonly artifacts: readonly string[];
}

/** How long a tool may take to stop once it was told to; after that it is left behind. */
const GRACE_MS = 5_000;
const HEARTBEAT_MS = 60_000;
const PANICKED = 'tool handler panicked';

function isPlainError(error: unknown): error is Error {
  return isOdekError(error) || (error instanceof Error && error.name === 'Error');
}

function failure(scope: CallScope, ready: ReadyCall, error: unknown, timeoutMs: number, local: AbortSignal): RawResult {
  const name = ready.tool.spec.name;
  const base = { source: labelOf(ready), timedOut: isTimeout(error), artifacts: [] };
  if (scope.signal.aborted) {
    return {
      ...base,
      outcome: 'cancelled',
      content: `error: tool "${name}" was cancelled while it was running; it may have taken effect in part`,
    };
  }
  if (local.aborted) {
    const seconds = Math.round(timeoutMs / 100) / 10;
    return {
      ...base,
      outcome: 'failed',
      timedOut: true,
      content: `error: tool "${name}" ran past its time limit of ${seconds} s and was stopped`,
    };
  }
  if (!isPlainError(error) && scope.hidesPanics) return { ...base, outcome: 'failed', content: PANICKED };
  const told = error instanceof Error ? error.message : String(error);
  return { ...base, outcome: 'failed', content: isPlainError(error) ? `error: ${told}` : `error: tool "${name}" panicked: ${told}` };
}

/** What the untrusted wrapper says where the tool itself says nothing; of an MCP tool also on its errors. */
function labelOf({ tool: { spec, mcp } }: ReadyCall): string {
  return mcp === undefined ? spec.name : mcpSource(mcp.server, mcp.tool);
}

function isTimeout(error: unknown): boolean {
  return hasCode(error, 'mcp_timeout') || hasCode(error, 'deadline_exceeded');
}

function success(ready: ReadyCall, result: string | ToolResult): RawResult {
  const { content, failed, source, artifacts } = typeof result === 'string' ? ({ content: result } as ToolResult) : result;
  // A tool of another team may return anything; text is all a model can be given.
  const text = typeof content === 'string' ? content : String(content);
  return {
    outcome: failed ? 'failed' : 'completed',
    content: text,
    source: source ?? labelOf(ready),
    timedOut: false,
    // Core itself checked what the tool of an MCP server hands over; nobody else's word is taken for it.
    artifacts: (ready.tool.mcp && artifacts) ?? [],
  };
}

function startHeartbeat(clock: Clock, beat: (elapsedMs: number) => void): () => void {
  const startedAt = clock.monotonic();
  let stop = (): void => {};
  const arm = (): void => {
    stop = clock.after(HEARTBEAT_MS, () => {
      beat(clock.monotonic() - startedAt);
      arm();
    });
  };
  arm();
  return () => stop();
}

/** Rejects once `signal` fired and the grace is over; resolves never. */
function abandoned(clock: Clock, signal: AbortSignal, settled: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const arm = (): void => {
      const stop = clock.after(GRACE_MS, () => reject(signal.reason));
      settled.addEventListener('abort', stop, { once: true });
    };
    if (signal.aborted) arm();
    else signal.addEventListener('abort', arm, { once: true, signal: settled });
  });
}

/**
 * Runs a tool under its time limit and the scope's signal. Never throws: a tool that throws, hangs or
 * returns nonsense becomes a result. A tool that ignores its signal is left behind after 5 s.
 */
export async function executeTool(scope: CallScope, ready: ReadyCall, services?: CallServices): Promise<RawResult> {
  const { clock } = scope.deps;
  const { spec, dataDir } = ready.tool;
  const timeoutMs = spec.timeoutMs ?? scope.settings.toolTimeoutMs;
  const limit = new AbortController();
  const settled = new AbortController();
  const stopTimer = clock.after(timeoutMs, () => limit.abort(new DeadlineError(`${spec.name}: time limit`, { limit: timeoutMs })));
  const stopHeartbeat = startHeartbeat(clock, (elapsed) =>
    scope.emit({
      type: 'signal',
      name: 'tool_running',
      detail: `${spec.name} for ${Math.round(elapsed / 1000)} s`,
      iteration: scope.iteration,
    }),
  );
  const signal = AbortSignal.any([scope.signal, limit.signal]);
  const exec: ToolExecution = {
    signal,
    callId: ready.call.id,
    args: ready.input,
    rawArgs: ready.call.arguments,
    runId: scope.runId,
    sessionId: scope.sessionId,
    workspace: scope.settings.workspace,
    dataDir,
  };
  if (services !== undefined) attachCallServices(exec, services);
  try {
    const running = (async () => spec.execute(ready.input as never, exec))();
    return success(ready, await Promise.race([running, abandoned(clock, signal, settled.signal)]));
  } catch (error) {
    return failure(scope, ready, error, timeoutMs, limit.signal);
  } finally {
    // With a reason of its own no error is made for each call.
    settled.abort('settled');
    stopTimer();
    stopHeartbeat();
  }
}
