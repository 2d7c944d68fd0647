import { PlanError } from './errors.ts';
import { listField, type StepDraft, stepDrafts, textField } from './input.ts';
import type { JsonObject } from './json.ts';
import type { PlanStep } from './state.ts';
import { quote } from './text.ts';
import { assignIds, type Place, validSteps } from './validate.ts';

export const OPERATION_KINDS = ['add', 'edit', 'move', 'split', 'supersede'] as const;
export type OperationKind = (typeof OPERATION_KINDS)[number];

/** One operation on the working list. It returns the new list and its summary item, or throws. */
export interface Operation {
  readonly kind: OperationKind;
  readonly fields: JsonObject;
  readonly place: Place;
  /** Ids that other operations of the same call declare; auto-assignment keeps off them. */
  readonly reserved: readonly string[];
}

export interface Applied {
  readonly steps: readonly PlanStep[];
  readonly item: string;
}

export function unknownId(place: Place, field: string, id: string): PlanError {
  return new PlanError('plan_unknown_id', `${place.prefix}unknown ${field} ${quote(id)}`, { repair: place.repair, value: id });
}

export function fault(place: Place, message: string, value?: unknown, limit?: unknown): PlanError {
  return new PlanError('plan_invalid', `${place.prefix}${message}`, { repair: place.repair, value, limit });
}

/** The step an operation is about, by its `step_id`. */
export function targetOf(steps: readonly PlanStep[], { fields, place }: Operation): { readonly step: PlanStep; readonly at: number } {
  const id = (textField(fields, 'step_id', place.prefix) ?? '').toWellFormed().trim();
  const at = steps.findIndex((step) => step.id === id);
  const step = steps[at];
  if (step === undefined) throw unknownId(place, 'step id', id);
  return { step, at };
}

/** Valid pending steps out of the operation's `steps`, which may not collide with `staying`. */
export function newSteps(staying: readonly PlanStep[], operation: Operation, minimum: number): readonly PlanStep[] {
  const { fields, kind, place, reserved } = operation;
  const list = listField(fields, 'steps', place.prefix) ?? [];
  if (list.length < minimum) throw fault(place, `${kind} wants at least ${minimum} steps, got ${list.length}`, list.length, minimum);
  const drafts: readonly StepDraft[] = stepDrafts(list, place.prefix);
  const ids = new Set(staying.map((step) => step.id));
  return validSteps(assignIds(drafts, [...ids, ...reserved]), ids, place);
}
