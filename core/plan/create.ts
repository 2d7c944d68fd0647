import { overflows, requireCapacity } from './capacity.ts';
import type { VerbContext, VerbEffect } from './effect.ts';
import { exampleCall, PlanError } from './errors.ts';
import { stepDrafts, stepsArgument } from './input.ts';
import type { JsonObject } from './json.ts';
import {
  hasChecks,
  MAX_OPERATIONS,
  type PlanRevision,
  type PlanState,
  type PlanStep,
  reopened,
  sameDeclaration,
  withoutEvidence,
} from './state.ts';
import { summaryItem } from './summary.ts';
import { assignIds, validSteps } from './validate.ts';

const ARCHIVE_REASON = 'create reset superseded the previous checked plan';

/**
 * Replaces the plan. Checked steps that the new list keeps unchanged keep progress and evidence;
 * where the list drops or alters a check, nothing is carried and the old steps are archived by id.
 */
export function createPlan(state: PlanState, call: JsonObject, context: VerbContext): VerbEffect {
  const { steps: list, remark } = stepsArgument(call, state);
  const { maxSteps, maxRenderChars } = context.limits;
  const repair = exampleCall('create', state);
  if (list.length < 1 || list.length > maxSteps) {
    throw new PlanError('plan_invalid', `plan: create wants 1..${maxSteps} steps, got ${list.length}`, {
      repair,
      value: list.length,
      limit: maxSteps,
    });
  }
  const declared = validSteps(assignIds(stepDrafts(list), []), new Set(), { prefix: 'plan: ', repair, epoch: context.epoch });
  const next = succeed(state, declared, maxRenderChars, context.epoch);
  requireCapacity(next, { steps: [] }, maxRenderChars, repair);
  return { ...next, remark, created: true, transitions: [] };
}

function succeed(
  state: PlanState,
  declared: readonly PlanStep[],
  maxRenderChars: number,
  epoch: number,
): Pick<VerbEffect, 'steps' | 'revision'> {
  if (!hasChecks(state.steps)) return { steps: declared };
  if (!keepsEveryCheck(state.steps, declared)) return archive(state, declared, maxRenderChars);
  const old = new Map(state.steps.map((step) => [step.id, step]));
  const steps = declared.map((step) => carryProgress(old.get(step.id), step, epoch));
  return state.revision === undefined ? { steps } : { steps, revision: state.revision };
}

function keepsEveryCheck(old: readonly PlanStep[], declared: readonly PlanStep[]): boolean {
  const byId = new Map(declared.map((step) => [step.id, step]));
  return old.every((step) =>
    step.checks.every((check) => byId.get(step.id)?.checks.some((candidate) => sameDeclaration(check, candidate)) ?? false),
  );
}

function carryProgress(old: PlanStep | undefined, step: PlanStep, epoch: number): PlanStep {
  if (old === undefined || old.checks.length === 0) return step;
  const retitled = old.title !== step.title;
  const checks = step.checks.map((check) => {
    const known = old.checks.find((candidate) => candidate.id === check.id);
    if (known === undefined) return check;
    return retitled ? withoutEvidence(known, epoch) : known;
  });
  const appended = checks.length > old.checks.length;
  return { ...step, checks, status: retitled || appended ? reopened(old.status) : old.status };
}

/** A reset always works: where the full archive does not fit, it names fewer steps, in the end none. */
function archive(state: PlanState, declared: readonly PlanStep[], maxRenderChars: number): Pick<VerbEffect, 'steps' | 'revision'> {
  const checked = state.steps.filter((step) => step.checks.length > 0).slice(0, MAX_OPERATIONS);
  for (let named = checked.length; named > 0; named--) {
    const summary = checked.slice(0, named).map((step) => summaryItem.archived(step.id, state.version));
    const revision: PlanRevision = { reason: ARCHIVE_REASON, summary };
    if (!overflows({ steps: declared, revision }, maxRenderChars)) return { steps: declared, revision };
  }
  return { steps: declared };
}
