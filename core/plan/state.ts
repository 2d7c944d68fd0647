/** The plan as data. Every value is immutable: a mutation makes a new state and shares what stayed. */

export const STEP_STATUSES = ['pending', 'in_progress', 'done', 'blocked'] as const;
export type StepStatus = (typeof STEP_STATUSES)[number];

export const CHECK_STATUSES = ['pending', 'passed', 'failed', 'blocked'] as const;
export type CheckStatus = (typeof CHECK_STATUSES)[number];

/** Required evidence: a call of `tool` with exactly these arguments must have succeeded. */
export interface PlanCheck {
  readonly id: string;
  readonly description: string;
  readonly tool: string;
  /** Canonical JSON of an object. */
  readonly arguments: string;
  readonly status: CheckStatus;
  /** The call that gave the status; empty while there is none. */
  readonly callId: string;
  /** The evidence epoch this declaration belongs to. Not rendered. */
  readonly epoch: number;
}

export interface PlanStep {
  readonly id: string;
  readonly title: string;
  /** Empty when there is none. */
  readonly note: string;
  readonly status: StepStatus;
  readonly checks: readonly PlanCheck[];
}

/** Why the plan was last changed, and what the change did. */
export interface PlanRevision {
  readonly reason: string;
  readonly summary: readonly string[];
}

/** `version` 0 means that there was never a plan. */
export interface PlanState {
  readonly version: number;
  readonly steps: readonly PlanStep[];
  readonly revision?: PlanRevision;
}

/** Resolved, already clamped configuration. `maxRenderChars` is in UTF-8 bytes. */
export interface PlanLimits {
  readonly maxSteps: number;
  readonly maxRenderChars: number;
}

/** Highest `planning.max_steps`, and the cap of read-only views. */
export const STEP_CEILING = 50;
export const MAX_ID_BYTES = 32;
export const MAX_TITLE_BYTES = 200;
export const MAX_CHECKS = 4;
/** Code points. */
export const MAX_DESCRIPTION = 200;
/** UTF-8 bytes of a check's tool name. */
export const MAX_TOOL_BYTES = 128;
/** UTF-8 bytes of a check's canonical arguments. */
export const MAX_ARGUMENT_BYTES = 4096;
/** Code points. */
export const MAX_REASON = 240;
export const MAX_OPERATIONS = 8;
/** Code points of one summary item. */
export const MAX_SUMMARY_ITEM = 2048;
export const MAX_CALL_ID = 128;

export const EMPTY_PLAN: PlanState = { version: 0, steps: [] };

export function hasChecks(steps: readonly PlanStep[]): boolean {
  return steps.some((step) => step.checks.length > 0);
}

/** A plan that is checked or revised keeps all its rows and must fit as a whole. */
export function isStrict(state: Pick<PlanState, 'steps' | 'revision'>): boolean {
  return state.revision !== undefined || hasChecks(state.steps);
}

/** True while some step is not done. */
export function isOpen(state: PlanState): boolean {
  return state.steps.some((step) => step.status !== 'done');
}

export function sameSteps(a: readonly PlanStep[], b: readonly PlanStep[]): boolean {
  return a === b || (a.length === b.length && a.every((step, at) => sameStep(step, b[at])));
}

function sameStep(a: PlanStep, b: PlanStep | undefined): boolean {
  if (a === b) return true;
  if (b === undefined || a.id !== b.id || a.title !== b.title || a.note !== b.note || a.status !== b.status) return false;
  return a.checks.length === b.checks.length && a.checks.every((check, at) => sameCheck(check, b.checks[at]));
}

function sameCheck(a: PlanCheck, b: PlanCheck | undefined): boolean {
  if (a === b) return true;
  return b !== undefined && sameDeclaration(a, b) && a.status === b.status && a.callId === b.callId;
}

/** Identity, tool, arguments and description agree; evidence may differ. */
export function sameDeclaration(a: PlanCheck, b: PlanCheck): boolean {
  return a.id === b.id && a.tool === b.tool && a.arguments === b.arguments && a.description === b.description;
}

export function sameRevision(a: PlanRevision | undefined, b: PlanRevision | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined || a.reason !== b.reason) return false;
  return a.summary.length === b.summary.length && a.summary.every((item, at) => item === b.summary[at]);
}

/** The check without evidence, as declared in `epoch`. */
export function withoutEvidence(check: PlanCheck, epoch: number): PlanCheck {
  return { ...check, status: 'pending', callId: '', epoch };
}

/** A done step goes back to work; any other keeps its status. */
export function reopened(status: StepStatus): StepStatus {
  return status === 'done' ? 'in_progress' : status;
}
