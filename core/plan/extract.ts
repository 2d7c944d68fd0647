/** The read-only view of a session's plan that every surface shares. */
import type { Message } from '../../ports/message.ts';
import { isPlanMessage, type ParsedPlan, parsePlan } from './parse.ts';
import { STEP_CEILING, type StepStatus } from './state.ts';
import { countSteps } from './summary.ts';

export interface PlanViewStep {
  readonly id: string;
  readonly title: string;
  readonly status: StepStatus;
  /** Absent when empty. */
  readonly note?: string;
}

/** `total`, `done` and `blocked` describe the whole plan; a collapsed one has no `steps` but keeps its counts. */
export interface PlanView {
  readonly found: boolean;
  readonly version: number;
  readonly steps: readonly PlanViewStep[];
  readonly total: number;
  readonly done: number;
  readonly blocked: number;
  readonly allDone: boolean;
}

const NO_PLAN: PlanView = { found: false, version: 0, steps: [], total: 0, done: 0, blocked: 0, allDone: false };

/** The newest parseable plan message, up to 50 steps whatever the configuration says. Reads from the newest end and stops there. */
export function extractPlan(messages: readonly Message[]): PlanView {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (message === undefined || !isPlanMessage(message)) continue;
    const parsed = parsePlan(message.content, STEP_CEILING);
    if (parsed !== undefined) return planView(parsed);
  }
  return NO_PLAN;
}

function planView({ state, total }: ParsedPlan): PlanView {
  const collapsed = state.steps.length === 0;
  const { done, blocked } = collapsed ? { done: total, blocked: 0 } : countSteps(state.steps);
  const steps = state.steps.map(({ id, title, status, note }) => ({ id, title, status, ...(note !== '' && { note }) }));
  return { found: true, version: state.version, steps, total, done, blocked, allDone: done === total };
}
