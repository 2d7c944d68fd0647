import { requireCapacity } from './capacity.ts';
import type { VerbContext, VerbEffect } from './effect.ts';
import { exampleCall, PlanError } from './errors.ts';
import { argumentsError, checkDraft, textField } from './input.ts';
import type { JsonObject } from './json.ts';
import { MAX_DESCRIPTION, MAX_REASON, type PlanCheck, type PlanRevision, type PlanState, type PlanStep, reopened } from './state.ts';
import { summaryItem } from './summary.ts';
import { codePoints, normaliseText, quote } from './text.ts';
import { type Place, validCheck, validReason } from './validate.ts';

/**
 * Replaces one dead check with a fresh pending one, which reopens a done step, or marks it passed by
 * equivalent evidence. The justification goes into the revision block.
 */
export function replaceCheck(state: PlanState, call: JsonObject, context: VerbContext): VerbEffect {
  const place: Place = { prefix: 'plan: check_replace: ', repair: exampleCall('check_replace', state), epoch: context.epoch };
  const { step, check } = findCheck(state, call, place);
  const head = `check ${step.id}/${check.id} replaced: `;
  const justification = validReason(textField(call, 'justification'), 'justification', place, MAX_REASON - codePoints(head));
  const successor = successorOf(step, check, call, place);
  const revision: PlanRevision = { reason: head + justification, summary: [summaryItem.replacedCheck(step.id, check.id)] };
  const steps = state.steps.map((each) => (each === step ? withCheck(step, check, successor) : each));
  requireCapacity({ steps, revision }, state, context.limits.maxRenderChars, place.repair);
  return { steps, revision, transitions: [] };
}

function fault(place: Place, message: string, value?: unknown): PlanError {
  return new PlanError('plan_invalid', `${place.prefix}${message}`, { repair: place.repair, value });
}

function unknownId(place: Place, message: string, value: string): PlanError {
  return new PlanError('plan_unknown_id', `${place.prefix}${message}`, { repair: place.repair, value });
}

function findCheck(state: PlanState, call: JsonObject, place: Place): { step: PlanStep; check: PlanCheck } {
  const stepId = textField(call, 'step_id')?.trim();
  const checkId = textField(call, 'check_id')?.trim();
  if (!stepId || !checkId) throw fault(place, `step_id and check_id are required, got ${quote(stepId ?? '')} and ${quote(checkId ?? '')}`);
  const step = state.steps.find((each) => each.id === stepId);
  if (step === undefined) throw unknownId(place, `unknown step id ${quote(stepId)}`, stepId);
  const check = step.checks.find((each) => each.id === checkId);
  if (check !== undefined) return { step, check };
  const has = step.checks.map((each) => quote(each.id)).join(', ');
  throw unknownId(
    place,
    `step ${quote(stepId)} has no check ${quote(checkId)} (${has === '' ? 'it has no checks' : `it has ${has}`})`,
    checkId,
  );
}

function successorOf(step: PlanStep, check: PlanCheck, call: JsonObject, place: Place): PlanCheck {
  const replacement = call.get('replacement') ?? undefined;
  const note = textField(call, 'evidence_note');
  if (replacement !== undefined && note !== undefined)
    throw fault(place, "ambiguous: both 'replacement' and 'evidence_note' are given; give one");
  if (replacement === undefined) return withEvidence(check, note, place);
  if (typeof replacement === 'string') throw argumentsError('replacement must be an object, got a string', 'check_replace');
  const fresh = validCheck(checkDraft(replacement, 'replacement'), { ...place, prefix: `${place.prefix}replacement: ` });
  if (step.checks.some((each) => each !== check && each.id === fresh.id)) {
    throw fault(place, `replacement: duplicate check id ${quote(fresh.id)}`, fresh.id);
  }
  return fresh;
}

function withEvidence(check: PlanCheck, note: string | undefined, place: Place): PlanCheck {
  const evidence = normaliseText(note ?? '');
  if (evidence === '') throw fault(place, "one of 'replacement' {id,description,tool,arguments} and 'evidence_note' is required");
  const description = `${check.description} (evidence: ${evidence})`;
  const length = codePoints(description);
  if (length > MAX_DESCRIPTION) {
    throw fault(place, `evidence_note makes the description too long (${length} > ${MAX_DESCRIPTION} chars)`, length);
  }
  return { ...check, description, status: 'passed', callId: '' };
}

function withCheck(step: PlanStep, old: PlanCheck, successor: PlanCheck): PlanStep {
  const checks = step.checks.map((each) => (each === old ? successor : each));
  return { ...step, checks, status: successor.status === 'passed' ? step.status : reopened(step.status) };
}
