import { isOdekError, OdekError } from '../../ports/errors.ts';
import type { PlanState } from './state.ts';

export type PlanVerb = 'create' | 'update' | 'complete' | 'revise' | 'check_replace' | 'get';

/** Verbs in the order error messages list them. */
export const PLAN_VERBS: readonly PlanVerb[] = ['create', 'update', 'complete', 'get', 'revise', 'check_replace'];

export type PlanErrorCode = 'plan_arguments' | 'plan_invalid' | 'plan_unknown_id' | 'plan_gated' | 'plan_capacity';

/** A refused plan call. `message` is the fault; `repair` is a call that would be right. */
export class PlanError extends OdekError {
  readonly repair: string;

  constructor(code: PlanErrorCode, message: string, details: { repair: string; value?: unknown; limit?: unknown }) {
    super(code, message, details);
    this.repair = details.repair;
  }
}

export function isPlanError(error: unknown): error is PlanError {
  return isOdekError(error) && 'repair' in error;
}

/** What the model reads: the fault, then a minimal correct call. */
export function planErrorText(error: PlanError): string {
  return `${error.message}\nCorrect call: ${error.repair}`;
}

const CREATE_EXAMPLE = '{"verb":"create","steps":[{"id":"s1","title":"Investigate"},{"id":"s2","title":"Fix and test"}]}';

/** A minimal call of `verb` that fits this plan; without a plan, the call that makes one. */
export function exampleCall(verb: PlanVerb, state: PlanState): string {
  const step = state.steps.find((each) => each.status !== 'done') ?? state.steps[0];
  if (step === undefined || verb === 'create') return CREATE_EXAMPLE;
  const id = JSON.stringify(step.id);
  switch (verb) {
    case 'update':
      return `{"verb":"update","updates":[{"id":${id},"status":"in_progress"}]}`;
    case 'complete':
      return `{"verb":"complete","step_id":${id}}`;
    case 'revise':
      return `{"verb":"revise","reason":"More work was found","operations":[{"kind":"add","after_id":${id},"steps":[{"title":"Extra step"}]}]}`;
    case 'check_replace':
      return checkReplaceExample(state);
    case 'get':
      return '{"verb":"get"}';
  }
}

function checkReplaceExample(state: PlanState): string {
  const step = state.steps.find((each) => each.checks.length > 0);
  const check = step?.checks[0];
  if (step === undefined || check === undefined) return '{"verb":"get"}';
  const ids = `"step_id":${JSON.stringify(step.id)},"check_id":${JSON.stringify(check.id)}`;
  return `{"verb":"check_replace",${ids},"justification":"The file moved","replacement":{"id":"listing","description":"The file is listed","tool":"glob","arguments":{"pattern":"dist/*"}}}`;
}
