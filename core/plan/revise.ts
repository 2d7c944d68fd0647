import { requireCapacity } from './capacity.ts';
import type { VerbContext, VerbEffect } from './effect.ts';
import { exampleCall } from './errors.ts';
import { listField, missingList, objectEntry, textField } from './input.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { editStep } from './revise-edit.ts';
import {
  type Applied,
  fault,
  newSteps,
  OPERATION_KINDS,
  type Operation,
  type OperationKind,
  targetOf,
  unknownId,
} from './revise-operation.ts';
import { replaceStep } from './revise-replace.ts';
import { MAX_OPERATIONS, type PlanRevision, type PlanState, type PlanStep } from './state.ts';
import { summaryItem } from './summary.ts';
import { quote } from './text.ts';
import { type Place, validReason } from './validate.ts';

/** Applies up to eight operations in order, all or none. Untouched steps keep status and evidence. */
export function revisePlan(state: PlanState, call: JsonObject, context: VerbContext): VerbEffect {
  const repair = exampleCall('revise', state);
  const place: Place = { prefix: 'plan: revise: ', repair, epoch: context.epoch };
  if (state.steps.length === 0) throw fault(place, 'there is no plan to revise; create one first');
  const reason = validReason(textField(call, 'reason'), 'reason', place);
  const operations = readOperations(call, place, state);
  let steps = state.steps;
  const summary: string[] = [];
  for (const operation of operations) {
    const applied = applyOperation(steps, operation);
    steps = applied.steps;
    summary.push(applied.item);
  }
  const { maxSteps, maxRenderChars } = context.limits;
  if (steps.length > maxSteps)
    throw fault(place, `the plan would have ${steps.length} steps, at most ${maxSteps} are allowed`, steps.length, maxSteps);
  const revision: PlanRevision = { reason, summary };
  requireCapacity({ steps, revision }, state, maxRenderChars, repair);
  return { steps, revision, transitions: [] };
}

function readOperations(call: JsonObject, place: Place, state: PlanState): readonly Operation[] {
  const list = listField(call, 'operations');
  if (list === undefined) throw missingList(call, { verb: 'revise', key: 'operations', shape: 'array of {kind,…}', state });
  if (list.length < 1 || list.length > MAX_OPERATIONS) {
    throw fault(place, `wants 1..${MAX_OPERATIONS} operations, got ${list.length}`, list.length, MAX_OPERATIONS);
  }
  const declared = list.map(declaredIds);
  return list.map((entry, at) => {
    const here = { ...place, prefix: `${place.prefix}operation[${at}]: ` };
    const fields = objectEntry(entry, `operations[${at}]`);
    const reserved = declared.flatMap((ids, other) => (other === at ? [] : ids));
    return { kind: readKind(fields, here), fields, place: here, reserved };
  });
}

/** Ids that an operation's steps carry already, read leniently: malformed entries are reported where they are applied. */
function declaredIds(entry: JsonValue): readonly string[] {
  const steps = isJsonObject(entry) ? entry.get('steps') : undefined;
  if (!isJsonArray(steps)) return [];
  return steps.flatMap((step) => {
    const id = isJsonObject(step) ? step.get('id') : undefined;
    return typeof id === 'string' ? [id.trim()] : [];
  });
}

function readKind(fields: JsonObject, place: Place): OperationKind {
  const given = textField(fields, 'kind', place.prefix) ?? '';
  const kind = OPERATION_KINDS.find((each) => each === given);
  if (kind !== undefined) return kind;
  throw fault(place, `unknown kind ${quote(given)} (want ${OPERATION_KINDS.join('/')})`, given, OPERATION_KINDS);
}

function applyOperation(steps: readonly PlanStep[], operation: Operation): Applied {
  switch (operation.kind) {
    case 'add':
      return addSteps(steps, operation);
    case 'edit':
      return editStep(steps, operation);
    case 'move':
      return moveStep(steps, operation);
    case 'split':
    case 'supersede':
      return replaceStep(steps, operation, operation.kind);
  }
}

interface Anchor {
  readonly after: string;
  readonly before: string;
}

function anchorOf({ fields, place }: Operation): Anchor {
  const after = (textField(fields, 'after_id', place.prefix) ?? '').toWellFormed().trim();
  const before = (textField(fields, 'before_id', place.prefix) ?? '').toWellFormed().trim();
  if (after !== '' && before !== '') {
    throw fault(place, `after_id ${quote(after)} and before_id ${quote(before)} exclude each other; give one`);
  }
  return { after, before };
}

function insert(steps: readonly PlanStep[], added: readonly PlanStep[], anchor: Anchor, place: Place): readonly PlanStep[] {
  const id = anchor.after || anchor.before;
  if (id === '') return [...steps, ...added];
  const at = steps.findIndex((step) => step.id === id);
  if (at === -1) throw unknownId(place, anchor.after === '' ? 'before_id' : 'after_id', id);
  return steps.toSpliced(anchor.after === '' ? at : at + 1, 0, ...added);
}

function addSteps(steps: readonly PlanStep[], operation: Operation): Applied {
  const anchor = anchorOf(operation);
  const added = newSteps(steps, operation, 1);
  return { steps: insert(steps, added, anchor, operation.place), item: summaryItem.add(added, anchor.after, anchor.before) };
}

function moveStep(steps: readonly PlanStep[], operation: Operation): Applied {
  const { step, at } = targetOf(steps, operation);
  const anchor = anchorOf(operation);
  const moved = insert(steps.toSpliced(at, 1), [step], anchor, operation.place);
  return { steps: moved, item: summaryItem.move(step.id, anchor.after, anchor.before) };
}
