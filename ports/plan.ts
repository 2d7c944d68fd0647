export type PlanStepStatus = 'pending' | 'in_progress' | 'done' | 'blocked';

export interface PlanViewStep {
  readonly id: string;
  readonly title: string;
  readonly status: PlanStepStatus;
  /** Absent when empty. */
  readonly note?: string;
}

/**
 * A plan as every surface shows it. `total`, `done` and `blocked` describe the whole plan; a collapsed
 * one has no `steps` but keeps its counts. Titles and notes come from a model.
 */
export interface PlanView {
  readonly found: boolean;
  readonly version: number;
  readonly steps: readonly PlanViewStep[];
  readonly total: number;
  readonly done: number;
  readonly blocked: number;
  readonly allDone: boolean;
}

/** What the model reads of a plan call, and whether the call was refused. */
export interface PlanReply {
  readonly content: string;
  readonly failed: boolean;
}

/**
 * The plans of the running agent, one a run, for the `plan` tool (DECISIONS 19).
 *
 * Contract (the `plan-control` suite):
 * - `execute` takes the call's raw JSON text, or a value that was parsed from it; a string is always raw text.
 *   Raw text is preferred: only it keeps number literals (`1.0`) as they were written.
 * - It settles for every input and never rejects: a refused call is `failed` with a text that ends in a correct call.
 * - A refused call leaves the plan as it was.
 * - An accepted call answers with the plan as it is then.
 * - Calls take effect in the order in which `execute` was called, each as a whole.
 */
export interface PlanControl {
  /** `run` is the run whose plan is meant, as in `ToolExecution.runId`; a control of one run needs none. */
  execute(args: unknown, run?: string): Promise<PlanReply>;
}
