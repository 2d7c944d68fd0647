/** What is said about a plan in numbers, ids and one-line items. */
import type { PlanState, PlanStep, StepStatus } from './state.ts';
import { MAX_SUMMARY_ITEM } from './state.ts';
import { clampPoints, compareCodePoints } from './text.ts';

/** Steps by status; `steps` is the sum of the other four. */
export interface PlanCounts {
  readonly steps: number;
  readonly done: number;
  readonly in_progress: number;
  readonly blocked: number;
  readonly pending: number;
}

export function countSteps(steps: readonly { readonly status: StepStatus }[]): PlanCounts {
  const counts = { steps: steps.length, done: 0, in_progress: 0, blocked: 0, pending: 0 };
  for (const step of steps) counts[step.status]++;
  return counts;
}

/** `step/check` of every check that is neither passed nor blocked, sorted. */
export function pendingChecks(state: PlanState): readonly string[] {
  const ids: string[] = [];
  for (const step of state.steps) {
    for (const check of step.checks) {
      if (check.status !== 'passed' && check.status !== 'blocked') ids.push(`${step.id}/${check.id}`);
    }
  }
  return ids.sort(compareCodePoints);
}

const quoted = (id: string): string => JSON.stringify(id);
const list = (steps: readonly PlanStep[]): string => `[${steps.map((step) => quoted(step.id)).join(' ')}]`;
const bounded = (item: string): string => clampPoints(item, MAX_SUMMARY_ITEM - 1);

/** The summary items of a revision, one an operation. Absent anchors and targets print as `""`. */
export const summaryItem = {
  add: (steps: readonly PlanStep[], after: string, before: string): string =>
    bounded(`add ${list(steps)} after ${quoted(after)} before ${quoted(before)}`),
  edit: (id: string): string => bounded(`edit ${quoted(id)}`),
  editChecks: (id: string): string => bounded(`edit checks ${quoted(id)}`),
  move: (id: string, after: string, before: string): string =>
    bounded(`move ${quoted(id)} after ${quoted(after)} before ${quoted(before)}`),
  replace: (kind: 'split' | 'supersede', id: string, steps: readonly PlanStep[], carryTo: string): string =>
    bounded(`${kind} ${quoted(id)} -> ${list(steps)}; checks to ${quoted(carryTo)}`),
  archived: (id: string, version: number): string => bounded(`archived step ${quoted(id)} (v${version})`),
  replacedCheck: (stepId: string, checkId: string): string => bounded(`replaced ${stepId}/${checkId}`),
};
