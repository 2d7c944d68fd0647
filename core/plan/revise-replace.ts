import { textField } from './input.ts';
import { type Applied, fault, newSteps, type Operation, targetOf } from './revise-operation.ts';
import { MAX_CHECKS, type PlanCheck, type PlanStep, withoutEvidence } from './state.ts';
import { summaryItem } from './summary.ts';
import { quote } from './text.ts';
import type { Place } from './validate.ts';

/** Puts replacement steps where a step was. Its checks go to one of them, or the replacements bring their own. */
export function replaceStep(steps: readonly PlanStep[], operation: Operation, kind: 'split' | 'supersede'): Applied {
  const { step, at } = targetOf(steps, operation);
  const fresh = newSteps(steps.toSpliced(at, 1), operation, kind === 'split' ? 2 : 1);
  const carryTo = step.checks.length === 0 ? '' : carryTarget(step, fresh, operation);
  const replacements =
    carryTo === '' ? fresh : fresh.map((each) => (each.id === carryTo ? withCarried(each, step, operation.place) : each));
  return { steps: steps.toSpliced(at, 1, ...replacements), item: summaryItem.replace(kind, step.id, fresh, carryTo) };
}

/** The successor of the checks; empty where the replacements declare their own. */
function carryTarget(step: PlanStep, fresh: readonly PlanStep[], { fields, place }: Operation): string {
  const target = (textField(fields, 'carry_checks_to', place.prefix) ?? '').toWellFormed().trim();
  if (target === '') {
    if (fresh.some((each) => each.checks.length > 0)) return '';
    const ids = fresh.map((each) => quote(each.id)).join(', ');
    throw fault(place, `carry_checks_to required: step ${quote(step.id)} has checks and no replacement (${ids}) declares any`, step.id);
  }
  if (fresh.some((each) => each.id === target)) return target;
  throw fault(
    place,
    `carry_checks_to ${quote(target)} is not one of the replacements (${fresh.map((each) => quote(each.id)).join(', ')})`,
    target,
  );
}

function withCarried(successor: PlanStep, original: PlanStep, place: Place): PlanStep {
  const declared = new Set(successor.checks.map((check) => check.id));
  const twice = original.checks.find((check) => declared.has(check.id));
  if (twice !== undefined)
    throw fault(place, `carried check ${quote(twice.id)} is declared by step ${quote(successor.id)} already`, twice.id);
  const checks: readonly PlanCheck[] = [...successor.checks, ...original.checks.map((check) => withoutEvidence(check, place.epoch))];
  if (checks.length > MAX_CHECKS) {
    throw fault(
      place,
      `step ${quote(successor.id)} would have ${checks.length} checks, at most ${MAX_CHECKS} are allowed`,
      checks.length,
      MAX_CHECKS,
    );
  }
  return { ...successor, status: 'in_progress', checks };
}
