import type { PlanLimits, PlanRevision, PlanStep, StepStatus } from './state.ts';

export interface VerbContext {
  readonly limits: PlanLimits;
  /** Epoch of the checks that this call declares. */
  readonly epoch: number;
}

/** What a call would make of the plan. */
export interface VerbEffect {
  readonly steps: readonly PlanStep[];
  readonly revision?: PlanRevision;
  /** Statuses that steps took on, in order. */
  readonly transitions: readonly StepStatus[];
  /** A line for the model about an accepted mistake. */
  readonly remark?: string;
  /** Only `create` counts as a change in any case. */
  readonly created?: boolean;
}
