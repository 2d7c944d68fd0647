import { checkDrafts, listField, textField } from './input.ts';
import { type Applied, fault, type Operation, targetOf } from './revise-operation.ts';
import { type PlanStep, reopened, withoutEvidence } from './state.ts';
import { summaryItem } from './summary.ts';
import { normaliseText } from './text.ts';
import { validChecks, validTitle } from './validate.ts';

/** Changes title or note and appends checks. A new title takes the evidence away; both reopen a done step. */
export function editStep(steps: readonly PlanStep[], operation: Operation): Applied {
  const { fields, place } = operation;
  const { step, at } = targetOf(steps, operation);
  const givenTitle = textField(fields, 'title', place.prefix);
  const givenNote = textField(fields, 'note', place.prefix);
  const appended = validChecks(checkDrafts(listField(fields, 'checks', place.prefix) ?? [], place.prefix), step.checks, place);
  if (givenTitle === undefined && givenNote === undefined && appended.length === 0) {
    throw fault(place, 'edit wants a title, a note or checks, got none of them');
  }
  const title = givenTitle === undefined ? step.title : validTitle(givenTitle, place);
  const note = givenNote === undefined ? step.note : normaliseText(givenNote);
  const retitled = title !== step.title;
  const kept = retitled ? step.checks.map((check) => withoutEvidence(check, place.epoch)) : step.checks;
  const status = retitled || appended.length > 0 ? reopened(step.status) : step.status;
  const edited = { ...step, title, note, status, checks: [...kept, ...appended] };
  const item = appended.length > 0 ? summaryItem.editChecks(step.id) : summaryItem.edit(step.id);
  return { steps: steps.with(at, edited), item };
}
