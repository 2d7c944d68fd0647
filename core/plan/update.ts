import { requireCapacity } from './capacity.ts';
import type { VerbContext, VerbEffect } from './effect.ts';
import { exampleCall, PlanError, type PlanVerb } from './errors.ts';
import { listField, missingList, objectEntry, textField } from './input.ts';
import type { JsonObject, JsonValue } from './json.ts';
import { type PlanState, type PlanStep, STEP_STATUSES, type StepStatus } from './state.ts';
import { normaliseText, quote } from './text.ts';

interface StepChange {
  readonly id: string;
  readonly status: string | undefined;
  readonly note: string | undefined;
}

/** Batch of status and note changes, in array order, all or none. An empty note means "not given". */
export function updatePlan(state: PlanState, call: JsonObject, context: VerbContext): VerbEffect {
  const { changes, remark } = readChanges(call, state);
  if (changes.length === 0) {
    throw new PlanError('plan_invalid', 'plan: update: no updates given', { repair: exampleCall('update', state) });
  }
  return { ...applyChanges(state, changes, { verb: 'update', context }), remark };
}

/** Marks one step done. */
export function completeStep(state: PlanState, call: JsonObject, context: VerbContext): VerbEffect {
  const stepId = textField(call, 'step_id');
  const alias = textField(call, 'id');
  if (stepId !== undefined && alias !== undefined && stepId.trim() !== alias.trim()) {
    throw conflict('complete', `step_id ${quote(stepId)} and id ${quote(alias)} name different steps`, state);
  }
  const id = stepId ?? alias ?? '';
  return applyChanges(state, [{ id, status: 'done', note: undefined }], { verb: 'complete', context });
}

function conflict(verb: PlanVerb, problem: string, state: PlanState): PlanError {
  return new PlanError('plan_arguments', `plan: ${verb}: ambiguous: ${problem}`, { repair: exampleCall(verb, state) });
}

function readChanges(call: JsonObject, state: PlanState): { changes: readonly StepChange[]; remark: string } {
  const stepId = textField(call, 'step_id');
  const list = listField(call, 'updates');
  if (list === undefined) {
    if (stepId === undefined) throw missingList(call, { verb: 'update', key: 'updates', shape: 'array of {id,status,note}', state });
    const remark = 'plan: accepted single-step form (step_id) — prefer {"verb":"update","updates":[...]} next time\n';
    return { changes: [{ id: stepId, status: textField(call, 'status'), note: textField(call, 'note') }], remark };
  }
  const changes = list.map(readChange);
  if (stepId !== undefined && (changes.length !== 1 || changes[0]?.id.trim() !== stepId.trim())) {
    throw conflict('update', `'step_id' ${quote(stepId)} beside 'updates' for other steps`, state);
  }
  return { changes, remark: '' };
}

function readChange(entry: JsonValue, at: number): StepChange {
  const where = `updates[${at}]`;
  const object = objectEntry(entry, where);
  return {
    id: textField(object, 'id', `${where}.`) ?? '',
    status: textField(object, 'status', `${where}.`) || undefined,
    note: textField(object, 'note', `${where}.`),
  };
}

interface Applying {
  readonly verb: 'update' | 'complete';
  readonly context: VerbContext;
}

function applyChanges(state: PlanState, changes: readonly StepChange[], { verb, context }: Applying): VerbEffect {
  const steps = [...state.steps];
  const places = new Map(steps.map((step, at) => [step.id, at]));
  const transitions: StepStatus[] = [];
  for (const [at, change] of changes.entries()) {
    const place = places.get(change.id.toWellFormed().trim());
    const step = place === undefined ? undefined : steps[place];
    if (place === undefined || step === undefined) throw unknownStep(change.id, verb, state);
    const status = nextStatus(step, change.status, { verb, at, state });
    const note = normaliseText(change.note ?? '') || step.note;
    if (status !== step.status) transitions.push(status);
    if (status !== step.status || note !== step.note) steps[place] = { ...step, status, note };
  }
  const next = state.revision === undefined ? { steps } : { steps, revision: state.revision };
  requireCapacity(next, state, context.limits.maxRenderChars, exampleCall(verb, state));
  return { ...next, transitions };
}

function unknownStep(id: string, verb: PlanVerb, state: PlanState): PlanError {
  return new PlanError('plan_unknown_id', `plan: ${verb}: unknown step id ${quote(id)}`, { repair: exampleCall(verb, state), value: id });
}

function nextStatus(step: PlanStep, wanted: string | undefined, at: { verb: PlanVerb; at: number; state: PlanState }): StepStatus {
  if (wanted === undefined) return step.status;
  const status = STEP_STATUSES.find((each) => each === wanted);
  if (status === undefined) {
    throw new PlanError('plan_invalid', `plan: ${at.verb}: step[${at.at}]: unknown status ${quote(wanted)}`, {
      repair: exampleCall('update', at.state),
      value: wanted,
      limit: STEP_STATUSES,
    });
  }
  if (status === 'done' && step.status !== 'done') requireEvidence(step, at.verb);
  return status;
}

/** A step with a pending or failed check cannot be done. The call that would gather the evidence is named. */
function requireEvidence(step: PlanStep, verb: PlanVerb): void {
  const missing = step.checks.find((check) => check.status === 'pending' || check.status === 'failed');
  if (missing === undefined) return;
  const open = step.checks.filter((check) => check.status !== 'passed');
  const detail = open.map((check) => `${quote(check.id)} (${check.status})`).join(', ');
  throw new PlanError('plan_gated', `plan: ${verb}: step ${quote(step.id)} has checks that have not passed: ${detail}`, {
    repair: `first ${missing.tool} ${missing.arguments}, and when it has succeeded {"verb":"complete","step_id":${JSON.stringify(step.id)}}`,
    value: step.id,
  });
}
