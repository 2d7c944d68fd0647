/** What is left of the plan, for the ends of runs and for side calls. */
import type { PlanState } from './state.ts';

/** Longest text, in UTF-16 units; steps that do not fit are counted. */
const MAX_CHARS = 8_000;

/** `s2=in_progress, s3=pending`: ids and statuses of the steps that are not done; empty when there are none. */
export function remainingPairs(state: PlanState): string {
  return bounded(open(state).map((step) => `${step.id}=${step.status}`));
}

/** `Remaining plan steps: …` with titles, for texts that may be all that is left after a trim. Derived from a model: to be wrapped. */
export function remainingSteps(state: PlanState): string {
  const steps = open(state);
  if (steps.length === 0) return '';
  return `Remaining plan steps: ${bounded(steps.map((step) => `${step.id} (${step.status}) ${step.title}`))}`;
}

/** The source label under which {@link remainingPairs} is wrapped and recorded. */
export const REMAINING_SOURCE = 'plan_remaining';

function open(state: PlanState): PlanState['steps'] {
  return state.steps.filter((step) => step.status !== 'done');
}

function bounded(items: readonly string[]): string {
  let size = 0;
  const fits = items.findIndex((item) => {
    size += item.length + 2;
    return size > MAX_CHARS;
  });
  return fits === -1 ? items.join(', ') : [...items.slice(0, fits), `+${items.length - fits} more`].join(', ');
}
