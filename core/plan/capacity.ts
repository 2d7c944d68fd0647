/** Checked and revised plans must fit in full, whatever evidence they will collect. */
import { PlanError } from './errors.ts';
import { CHECKS_DELIMITER, headerText, renderRevision, reservedStepSize } from './render.ts';
import { hasChecks, isStrict, type PlanState } from './state.ts';
import { utf8Length } from './text.ts';

const LARGEST_VERSION = 999_999_999;

type Content = Pick<PlanState, 'steps' | 'revision'>;

/** Bytes that the render of this plan may ever need. */
export function reservedSize(plan: Content): number {
  const steps = plan.steps.length;
  const header = headerText({ version: LARGEST_VERSION, done: 0, steps, blocked: 0, checks: hasChecks(plan.steps) });
  const rows = plan.steps.reduce((sum, step) => sum + 1 + reservedStepSize(step), 0);
  const revision = plan.revision === undefined ? 0 : utf8Length(renderRevision(plan.revision)) + 1;
  return utf8Length(header) + 2 * String(steps).length + rows + revision;
}

/** True when a title or note would read as the start of the checks. */
function usesDelimiter(plan: Content): boolean {
  // The space stands for the one that the row puts before a title and before a note.
  return plan.steps.some((step) => ` ${step.title}`.includes(CHECKS_DELIMITER) || ` ${step.note}`.includes(CHECKS_DELIMITER));
}

/** True when `plan` may be larger than `allowed` or reads ambiguously. Plans that are neither checked nor revised always fit. */
export function overflows(plan: Content, allowed: number): boolean {
  return isStrict(plan) && (reservedSize(plan) > allowed || usesDelimiter(plan));
}

/**
 * Throws {@link PlanError} `plan_capacity` when `next` overflows. A plan that is already too large
 * (the limit was lowered since) may change as long as it does not grow.
 */
export function requireCapacity(next: Content, prior: Content, maxChars: number, repair: string): void {
  const allowed = isStrict(prior) ? Math.max(maxChars, reservedSize(prior)) : maxChars;
  if (!overflows(next, allowed)) return;
  throw new PlanError(
    'plan_capacity',
    `plan: checked plan exceeds max_render_chars (${maxChars}) or uses reserved checks delimiter in title/note`,
    {
      repair,
      value: reservedSize(next),
      limit: maxChars,
    },
  );
}
