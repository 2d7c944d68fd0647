/** Repeated identical calls: a hint at 3, 6, 12, … of them, at 9, 18, … polls of a background job. */
import type { DangerClass } from '../../ports/approval.ts';
import type { Hash } from '../../ports/hash.ts';
import type { ToolOutcome } from '../../ports/message.ts';
import { callFingerprint, isPolling } from './fingerprint.ts';
import type { PlanPosition } from './store.ts';

export interface StallCall {
  readonly tool: string;
  readonly arguments: string;
  readonly outcome: ToolOutcome;
  /** Absent: the class is not known, which counts as harmless. */
  readonly danger?: DangerClass;
  /** Text of the result; a poll whose result differs from the one before starts anew. */
  readonly result?: string;
}

interface StallHint {
  /** Trusted text for the model; plan ids only. */
  readonly text: string;
  /** Details of the `tool_recovery` signals, one for each repeated call. */
  readonly details: readonly string[];
}

export interface StallMonitor {
  /** Takes a finished batch. `plan` is absent when planning is off or there is no plan. */
  observe(calls: readonly StallCall[], plan: PlanPosition | undefined): StallHint | undefined;
}

interface Repeated {
  readonly tool: string;
  count: number;
  milestone: number;
  fired: number;
  result: string | undefined;
}

interface Fired {
  readonly call: StallCall;
  readonly count: number;
  readonly again: boolean;
}

const FIRST_MILESTONE = 3;
const FIRST_POLLING_MILESTONE = 9;
const MAX_FINGERPRINTS = 64;

/** State of one run. Only completed calls count; a call that failed clears what is known of its tool. */
export function createStallMonitor(hash: Hash): StallMonitor {
  const known = new Map<string, Repeated>();

  const forget = (tool: string): void => {
    for (const [fingerprint, entry] of known) if (entry.tool === tool) known.delete(fingerprint);
  };

  const count = (call: StallCall): Fired | undefined => {
    if (call.outcome === 'failed') forget(call.tool);
    if (call.outcome !== 'completed' || call.tool === 'plan') return undefined;
    const fingerprint = callFingerprint(hash, call.tool, call.arguments);
    const digest = isPolling(call.tool) && call.result !== undefined ? hash.sha256(withoutRuntime(call.result)) : undefined;
    const before = known.get(fingerprint);
    const entry = before !== undefined && before.result === digest ? before : fresh(call.tool, digest);
    entry.count++;
    known.set(fingerprint, entry);
    if (known.size > MAX_FINGERPRINTS) evictLowest(known, fingerprint);
    if (entry.count < entry.milestone) return undefined;
    entry.milestone *= 2;
    entry.fired++;
    return { call, count: entry.count, again: entry.fired > 1 };
  };

  return {
    observe(calls, plan) {
      const fired = calls.flatMap((call) => count(call) ?? []);
      if (fired.length === 0) return undefined;
      const escalate = calls.some(({ outcome }) => outcome === 'failed' || outcome === 'denied') || plan?.lastBlocked === true;
      return {
        text: fired.map((each) => sentence(each)).join('\n') + advice(fired, plan, escalate),
        details: fired.map(({ call, count: n, again }) => `repeated identical call (${n}x ${call.tool}${again ? ', again' : ''})`),
      };
    },
  };
}

/** A job whose clock alone goes on has not changed. Inside a string of JSON the quotes would be escaped. */
function withoutRuntime(result: string): string {
  return result.replace(/"runtime_s":[\d.]+/g, '');
}

function fresh(tool: string, result: string | undefined): Repeated {
  return { tool, count: 0, milestone: isPolling(tool) ? FIRST_POLLING_MILESTONE : FIRST_MILESTONE, fired: 0, result };
}

function evictLowest(known: Map<string, Repeated>, spared: string): void {
  let lowest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const [fingerprint, { count }] of known) {
    if (fingerprint === spared || count >= least) continue;
    lowest = fingerprint;
    least = count;
  }
  if (lowest !== undefined) known.delete(lowest);
}

function sentence({ call, count, again }: Fired): string {
  const mark = again ? ' (again)' : '';
  if (isPolling(call.tool)) {
    return `You polled ${call.tool} ${count} times with no state change${mark}. The job may be stuck or its id dead: look at it in another way, stop it, or go on without it.`;
  }
  return `You called ${call.tool} with identical arguments ${count} times${mark}. The result will not change: use what it told you or try something else.`;
}

function isMutating(call: StallCall): boolean {
  return call.danger !== undefined && call.danger !== 'safe';
}

function advice(fired: readonly Fired[], plan: PlanPosition | undefined, batchFailed: boolean): string {
  const escalate = batchFailed || fired.some(({ call }) => isMutating(call));
  const warning = escalate ? ' Stop retrying calls of this class.' : '';
  return `${warning}${planSuffix(plan, escalate)}`;
}

/** ` in_progress=s2, next_pending=s3`; ids only. Titles stay inside the wrapped plan message. */
function planSuffix(plan: PlanPosition | undefined, escalate: boolean): string {
  if (plan === undefined || !plan.open) return '';
  const pointers = [
    ...(plan.inProgress === undefined ? [] : [`in_progress=${plan.inProgress}`]),
    ...(plan.nextPending === undefined ? [] : [`${escalate ? 'next_non_mutating' : 'next_pending'}=${plan.nextPending}`]),
  ];
  return pointers.length === 0 ? '' : ` Plan: ${pointers.join(', ')}`;
}
