/** Repeated operational failures while a plan is open: when to ask for another approach. */
import type { ErrorClass } from '../../ports/event.ts';
import type { Hash } from '../../ports/hash.ts';
import type { ToolOutcome } from '../../ports/message.ts';
import { callFingerprint, isPolling } from './fingerprint.ts';

export type ReassessmentReason = 'repeated_check_failure' | 'varied_tool_failures';

export interface BatchCall {
  readonly tool: string;
  readonly arguments: string;
  readonly outcome: ToolOutcome;
  /** With `failed`: the class the runtime gave it. */
  readonly errorClass?: ErrorClass;
  /** False for a name that no registered tool has. */
  readonly registered: boolean;
  /** The call is a declared check of the plan. */
  readonly isCheck: boolean;
}

export interface ReassessmentMonitor {
  /** Takes a finished batch; `open` says that the plan has a step that is not done. Returns a reason when a hint is due. */
  observe(calls: readonly BatchCall[], open: boolean): ReassessmentReason | undefined;
}

interface Observation {
  readonly fingerprint: string;
  readonly failed: boolean;
  readonly errorClass: ErrorClass;
  readonly isCheck: boolean;
}

interface ClassStreak {
  readonly batches: number;
  readonly fingerprints: ReadonlySet<string>;
}

/** Failing batches that make a trigger; `failure_batches` of the event. */
const FAILURE_BATCHES = 3;
const MAX_CHECKS_TRACKED = 64;
const MAX_CLASSES = 3;
const MAX_FINGERPRINTS = 8;
const VARIED_FINGERPRINTS = 2;
const MAX_HINTS = 2;
const COOLDOWN_BATCHES = 3;

/** State of one turn; make a new one for each. */
export function createReassessmentMonitor(hash: Hash): ReassessmentMonitor {
  const checkFailures = new Map<string, number>();
  let streaks: ReadonlyMap<ErrorClass, ClassStreak> = new Map();
  let batches = 0;
  let hints = 0;
  let lastHint = Number.NEGATIVE_INFINITY;

  return {
    observe(calls, open) {
      if (!open) return undefined;
      const observations = observationsOf(calls, hash);
      if (observations.length === 0) return undefined;
      batches++;
      const repeated = trackChecks(checkFailures, observations);
      streaks = nextStreaks(streaks, observations);
      const varied = [...streaks.values()].some((each) => each.batches >= FAILURE_BATCHES && each.fingerprints.size >= VARIED_FINGERPRINTS);
      if (repeated === undefined && !varied) return undefined;
      if (hints === MAX_HINTS || batches - lastHint < COOLDOWN_BATCHES) return undefined;
      hints++;
      lastHint = batches;
      if (repeated !== undefined) checkFailures.delete(repeated);
      streaks = new Map();
      return repeated === undefined ? 'varied_tool_failures' : 'repeated_check_failure';
    },
  };
}

/** Finished calls that tell something about the approach; each fingerprint once, with its last result. */
function observationsOf(calls: readonly BatchCall[], hash: Hash): readonly Observation[] {
  const last = new Map<string, Observation>();
  for (const call of calls) {
    const counts = call.registered && call.tool !== 'plan' && !isPolling(call.tool);
    if (!counts || (call.outcome !== 'completed' && call.outcome !== 'failed')) continue;
    const fingerprint = callFingerprint(hash, call.tool, call.arguments);
    last.set(fingerprint, {
      fingerprint,
      failed: call.outcome === 'failed',
      errorClass: call.errorClass ?? 'tool_error',
      isCheck: call.isCheck,
    });
  }
  return [...last.values()];
}

/** Counts batches in which a check failed; returns one that failed again and has reached the threshold. */
function trackChecks(failures: Map<string, number>, observations: readonly Observation[]): string | undefined {
  let reached: string | undefined;
  for (const { fingerprint, failed, isCheck } of observations) {
    if (!isCheck) continue;
    if (!failed) {
      failures.delete(fingerprint);
      continue;
    }
    const count = (failures.get(fingerprint) ?? 0) + 1;
    failures.set(fingerprint, count);
    const oldest = failures.size > MAX_CHECKS_TRACKED ? failures.keys().next().value : undefined;
    if (oldest !== undefined) failures.delete(oldest);
    if (count >= FAILURE_BATCHES) reached ??= fingerprint;
  }
  return reached;
}

/** Streaks of consecutive batches that failed with a class; a success in the batch ends all of them. */
function nextStreaks(
  streaks: ReadonlyMap<ErrorClass, ClassStreak>,
  observations: readonly Observation[],
): ReadonlyMap<ErrorClass, ClassStreak> {
  if (observations.some(({ failed }) => !failed)) return new Map();
  const next = new Map<ErrorClass, { batches: number; fingerprints: Set<string> }>();
  for (const { errorClass, fingerprint } of observations) {
    let entry = next.get(errorClass);
    if (entry === undefined) {
      if (next.size === MAX_CLASSES) continue;
      const before = streaks.get(errorClass);
      entry = { batches: (before?.batches ?? 0) + 1, fingerprints: new Set(before?.fingerprints) };
      next.set(errorClass, entry);
    }
    if (entry.fingerprints.size < MAX_FINGERPRINTS) entry.fingerprints.add(fingerprint);
  }
  return next;
}
