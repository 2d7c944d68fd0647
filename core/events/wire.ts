import type { RunEvent, WireBody, WireEvent, WireType } from '../../ports/event.ts';

const EVENT_SCHEMA = 'odek.event/v1';

const IS_WIRE_TYPE = {
  run_started: true,
  iteration_completed: true,
  tool_call_started: true,
  tool_call_completed: true,
  tool_call_failed: true,
  session_saved: true,
  context_trimmed: true,
  budget_exceeded: true,
  run_completed: true,
  run_failed: true,
  plan_created: true,
  plan_updated: true,
  plan_blocked: true,
  plan_reassessment: true,
  verification_started: true,
  verification_completed: true,
  subagent_denied: true,
  subagent_spawned: true,
  subagent_completed: true,
  subagent_concurrency_wait: true,
  bg_started: true,
  bg_exited: true,
} as const satisfies Record<WireType, true>;

/** Every type of the wire stream. */
export const WIRE_TYPES = Object.keys(IS_WIRE_TYPE) as readonly WireType[];

function isWire(event: RunEvent): event is RunEvent & WireBody {
  return Object.hasOwn(IS_WIRE_TYPE, event.type);
}

/** Arguments reach the stream only where the operator asked for them (EXTENSIONS, "Event schema"). */
function wireData(event: WireBody, includeArgs: boolean): WireBody['data'] {
  if (event.type !== 'tool_call_started') return event.data;
  const { args: given, ...data } = event.data;
  const args = event.args ?? given;
  return includeArgs && args !== undefined ? { ...data, args } : data;
}

/**
 * The wire form of an event: one line of the `odek.event/v1` stream. Undefined for events that only
 * live views see. A `signal` named `context_trimmed` is live; the event of that type is not.
 */
export function toWireEvent(event: RunEvent, { includeArgs }: { readonly includeArgs: boolean }): WireEvent | undefined {
  if (!isWire(event)) return undefined;
  return {
    schema: EVENT_SCHEMA,
    type: event.type,
    run_id: event.runId,
    ...(event.sessionId === undefined ? {} : { session_id: event.sessionId }),
    ...(event.iteration === undefined ? {} : { iteration: event.iteration }),
    ...(event.tool === undefined ? {} : { tool: event.tool }),
    timestamp: new Date(event.at).toISOString(),
    data: wireData(event, includeArgs),
  } as WireEvent;
}
