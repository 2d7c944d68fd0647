import { callServicesOf } from '../../core/agent/attached-services.ts';
import type { HandleRow } from '../../core/extensions/handles.ts';
import { LIMITS } from '../../core/extensions/limits.ts';
import { CancelledError, hasCode } from '../../ports/errors.ts';
import { type ExtensionHost, ExtensionHostError, type Registration, type ToolCallAnswer } from '../../ports/extension-host.ts';
import type { ToolExecution, ToolResult, ToolSpec } from '../../ports/plugin.ts';
import type { SchemaCheck } from '../../ports/schema.ts';
import type { CallInHost } from './call.ts';
import { type Owned, originOf, type Shared } from './parts.ts';

type ToolRegistration = Extract<Registration, { kind: 'tool' }>;

export interface HostedTool {
  readonly owned: Owned;
  readonly row: HandleRow & { readonly spec: ToolRegistration };
  readonly check: SchemaCheck;
  /** The process, when it can take calls; text says why it cannot. */
  host(): ExtensionHost | string;
  /** Opens a ticket for one call. */
  ticketFor(call: CallInHost): { readonly ticket: string; end(): void };
  /** Counts a call in the group for as long as it runs. */
  enter(): () => void;
}

/** Characters of a result for tools that set no limit, and the most that one may set. */
const RESULT_CHARS = 50_000;
const MAX_RESULT_CHARS = 200_000;
/** The call's own limit is the host's, whose clock stands still while a person is asked. */
const OUTER_MS = 3_600_000;

function describe(issues: ReturnType<SchemaCheck>): string {
  return issues
    .slice(0, LIMITS.schemaIssues)
    .map(({ path, message }) => `- ${path === '' ? '(arguments)' : path}: ${message}`)
    .join('\n');
}

function notRunning(owned: Owned): ExtensionHostError {
  const why = owned.why === '' ? 'it was turned off' : owned.why;
  return new ExtensionHostError('extension_not_available', `${originOf(owned.bundle)} is not running: ${why}`, {
    value: owned.bundle.name,
  });
}

async function run(tool: HostedTool, shared: Shared, input: unknown, exec: ToolExecution): Promise<ToolCallAnswer> {
  const { owned, row, check } = tool;
  if (!shared.handles.isLive(owned.ref)) throw notRunning(owned);
  const issues = check(input);
  if (issues.length > 0)
    throw new ExtensionHostError('extension_call_failed', `invalid arguments:\n${describe(issues)}`, { value: row.spec.name });
  const host = tool.host();
  if (typeof host === 'string') throw new ExtensionHostError('extension_not_available', `${originOf(owned.bundle)}: ${host}`);
  const signal = AbortSignal.any([exec.signal, owned.ended.signal]);
  const services = callServicesOf(exec);
  const call: CallInHost = { owned, tool: row.spec.name, services, signal, hold: () => pending.hold() };
  // Outside the gate of a run there is nobody to ask, so nothing can be asked of core.
  const issued = services === undefined ? undefined : tool.ticketFor(call);
  const leave = tool.enter();
  const pending = host.call(
    {
      method: 'tool/call',
      deadlineMs: LIMITS.toolMs,
      params: {
        handle: row.handle,
        call_id: exec.callId,
        input,
        workspace: exec.workspace,
        ...(exec.sessionId !== undefined && { session_id: exec.sessionId }),
        ...(exec.runId !== undefined && { origin_turn_id: exec.runId }),
        ...(issued && { ticket: issued.ticket }),
      },
    },
    signal,
  );
  try {
    return await pending.result;
  } catch (error) {
    if (owned.ended.signal.aborted && !exec.signal.aborted) {
      throw new ExtensionHostError(
        'extension_not_available',
        `${originOf(owned.bundle)} ended while its tool ran: ${owned.why}; it may have taken effect in part`,
      );
    }
    if (exec.signal.aborted && hasCode(error, 'cancelled')) throw new CancelledError();
    throw error;
  } finally {
    issued?.end();
    leave();
  }
}

/** A plugin's tool as the registry holds it. What it declares about its effects is nothing: each call is judged as a third party's code. */
export function createHostedTool(tool: HostedTool, shared: Shared): ToolSpec {
  const { name, description, input_schema, max_result_chars = RESULT_CHARS } = tool.row.spec;
  const source = `${originOf(tool.owned.bundle)}/${name}`;
  return {
    name,
    description,
    parameters: input_schema,
    timeoutMs: OUTER_MS,
    maxResultChars: Math.min(max_result_chars, MAX_RESULT_CHARS),
    async execute(input: unknown, exec: ToolExecution): Promise<ToolResult> {
      const { content, failed } = await run(tool, shared, input, exec);
      return { content, failed, source };
    },
  } as ToolSpec;
}
