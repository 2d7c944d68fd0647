/** Evidence of checks: what finished calls prove, and what they take away. */
import type { Hash } from '../../ports/hash.ts';
import type { ToolOutcome } from '../../ports/message.ts';
import type { ToolEffects } from '../../ports/plugin.ts';
import { evidenceEffect } from './effects.ts';
import { canonicalJson, isJsonObject, readJson } from './json.ts';
import { type CheckStatus, hasChecks, MAX_CALL_ID, type PlanCheck, type PlanStep, reopened } from './state.ts';

/** A call that has its outcome. `arguments` is the JSON text that was executed. */
export interface FinishedCall {
  readonly tool: string;
  readonly arguments: string;
  readonly callId: string;
  readonly outcome: ToolOutcome;
  /** Only of first-party tools: replaces the table of known effects. */
  readonly effects?: ToolEffects;
}

/** Canonical form of an argument text; `undefined` when it is not a JSON object. */
export function canonicalArguments(text: string): string | undefined {
  const reading = readJson(text);
  return reading.ok && isJsonObject(reading.value) ? canonicalJson(reading.value) : undefined;
}

/** True when some check of the plan names exactly this call. */
export function matchesCheck(steps: readonly PlanStep[], tool: string, argumentsText: string): boolean {
  if (!steps.some((step) => step.checks.some((check) => check.tool === tool))) return false;
  const canonical = canonicalArguments(argumentsText);
  return canonical !== undefined && steps.some((step) => step.checks.some((check) => check.tool === tool && check.arguments === canonical));
}

/**
 * The steps after a call's outcome; the same array when nothing changed. Only checks declared up to
 * `epoch` collect evidence.
 */
export function recordEvidence(steps: readonly PlanStep[], call: FinishedCall, epoch: number, hash: Hash): readonly PlanStep[] {
  if (call.tool === 'plan' || call.outcome === 'skipped_budget' || !hasChecks(steps)) return steps;
  const matching = matcher(steps, call, epoch);
  const verdict = VERDICTS[call.outcome];
  if (matching !== undefined && verdict !== undefined) {
    const callId = safeCallId(call.callId, hash);
    const base = verdict === 'failed' ? invalidateOthers(steps, matching) : steps;
    return mapChecks(base, (check) => (matching(check) ? withEvidence(check, verdict, callId) : check), reopenFailed);
  }
  // A denied call never ran.
  if (call.outcome === 'denied') return steps;
  const effect = evidenceEffect(call.tool, call.arguments, call.effects);
  return effect === 'unknown' || effect === 'writes' ? invalidateOthers(steps, () => false) : steps;
}

/** A cancelled or unknown outcome proves nothing; what the call may have done still counts. */
const VERDICTS: Readonly<Partial<Record<ToolOutcome, CheckStatus>>> = { completed: 'passed', failed: 'failed', denied: 'blocked' };

function matcher(steps: readonly PlanStep[], call: FinishedCall, epoch: number): ((check: PlanCheck) => boolean) | undefined {
  if (!matchesCheck(steps, call.tool, call.arguments)) return undefined;
  const canonical = canonicalArguments(call.arguments);
  const matches = (check: PlanCheck): boolean => check.tool === call.tool && check.arguments === canonical && check.epoch <= epoch;
  return steps.some((step) => step.checks.some(matches)) ? matches : undefined;
}

/** Every check loses its evidence, apart from those about to be recorded. */
function invalidateOthers(steps: readonly PlanStep[], spared: (check: PlanCheck) => boolean): readonly PlanStep[] {
  return mapChecks(
    steps,
    (check) => (spared(check) || (check.status === 'pending' && check.callId === '') ? check : { ...check, status: 'pending', callId: '' }),
    reopenUnlessAllSpared(spared),
  );
}

/** A done step whose checks are no longer all proven goes back to work. */
function reopenUnlessAllSpared(spared: (check: PlanCheck) => boolean): (step: PlanStep) => PlanStep['status'] {
  return (step) => (step.checks.every(spared) ? step.status : reopened(step.status));
}

function reopenFailed(step: PlanStep): PlanStep['status'] {
  return step.checks.some((check) => check.status === 'failed') ? reopened(step.status) : step.status;
}

/** Applies `change` to every check and `settle` to every checked step; what stays equal keeps its identity. */
export function mapChecks(
  steps: readonly PlanStep[],
  change: (check: PlanCheck) => PlanCheck,
  settle: (step: PlanStep) => PlanStep['status'],
): readonly PlanStep[] {
  let changed = false;
  const next = steps.map((step) => {
    if (step.checks.length === 0) return step;
    const mapped = step.checks.map(change);
    const checks = mapped.every((check, at) => check === step.checks[at]) ? step.checks : mapped;
    const status = settle({ ...step, checks });
    if (checks === step.checks && status === step.status) return step;
    changed = true;
    return { ...step, checks, status };
  });
  return changed ? next : steps;
}

function withEvidence(check: PlanCheck, status: CheckStatus, callId: string): PlanCheck {
  return check.status === status && check.callId === callId ? check : { ...check, status, callId };
}

/** Ids that are short and plain are kept, others are replaced by their digest. */
function safeCallId(callId: string, hash: Hash): string {
  return callId.length <= MAX_CALL_ID && /^[A-Za-z0-9_.:-]+$/.test(callId) ? callId : `sha256:${hash.sha256(callId)}`;
}

/** After a restart no evidence counts: checks are pending and checked done steps are in progress. */
export function downgradeEvidence(steps: readonly PlanStep[]): readonly PlanStep[] {
  return invalidateOthers(steps, () => false);
}
