import type { RunEvent } from '../../../ports/event.ts';
import type { ToolOutcome } from '../../../ports/message.ts';

/** What is known of one call. */
export interface CallRecord {
  readonly callId: string;
  readonly tool: string;
  readonly args: string | undefined;
  readonly summary: Extract<RunEvent, { type: 'tool_call_started' }>['data']['args_summary'];
  outcome?: ToolOutcome;
  durationMs?: number;
  resultBytes?: number;
  content?: string;
}

/** Pairs the events of parallel calls by their id and tells when a call is over. */
export interface CallTracker {
  /** Takes any event; gives the calls that it finished. */
  take(event: RunEvent): CallRecord[];
  running(): readonly CallRecord[];
  /** The calls that nothing more will be heard of. Those without an outcome get `outcome`. */
  drain(outcome: ToolOutcome): CallRecord[];
  /** Calls started so far. */
  count(): number;
}

/** These never ran, so no duration follows. */
const NEVER_RAN: ReadonlySet<ToolOutcome> = new Set(['denied', 'skipped_budget', 'unknown']);

function isOver(call: CallRecord): boolean {
  return call.outcome !== undefined && call.content !== undefined && (call.durationMs !== undefined || NEVER_RAN.has(call.outcome));
}

export function createCallTracker(): CallTracker {
  let open: CallRecord[] = [];
  let count = 0;

  const start = (callId: string, tool: string, args?: string, summary?: CallRecord['summary']): CallRecord => {
    const call: CallRecord = { callId, tool, args, summary };
    open.push(call);
    count += 1;
    return call;
  };

  /** Calls may share an id when a provider repeats it: the first that still lacks `missing` is meant. */
  const find = (callId: string, missing: 'durationMs' | 'content'): CallRecord | undefined =>
    open.find((call) => call.callId === callId && call[missing] === undefined);

  const settle = (call: CallRecord): CallRecord[] => {
    if (!isOver(call)) return [];
    open = open.filter((other) => other !== call);
    return [call];
  };

  return {
    take(event) {
      if (event.type === 'tool_call_started') {
        start(event.data.call_id, event.tool ?? 'tool', event.args ?? event.data.args, event.data.args_summary);
        return [];
      }
      if (event.type === 'tool_call_completed' || event.type === 'tool_call_failed') {
        const call = find(event.data.call_id, 'durationMs');
        if (call === undefined) return [];
        call.durationMs = event.data.duration_ms;
        call.outcome ??= event.type === 'tool_call_completed' ? 'completed' : 'failed';
        if (event.type === 'tool_call_completed') call.resultBytes = event.data.result_bytes;
        return settle(call);
      }
      if (event.type === 'tool_result') {
        const call = find(event.call_id, 'content') ?? start(event.call_id, event.tool);
        call.outcome = event.outcome;
        call.content = event.content;
        return settle(call);
      }
      return [];
    },
    running: () => open,
    drain(outcome) {
      const rest = open;
      open = [];
      for (const call of rest) call.outcome ??= outcome;
      return rest;
    },
    count: () => count,
  };
}
