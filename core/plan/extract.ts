/** The read-only view of a session's plan that every surface shares. */
import type { Message } from '../../ports/message.ts';
import type { PlanView } from '../../ports/plan.ts';
import { isPlanMessage, type ParsedPlan, parsePlan } from './parse.ts';
import { type PlanState, STEP_CEILING } from './state.ts';
import { countSteps } from './summary.ts';

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

/** The view of a live plan. */
export function planViewOf(state: PlanState): PlanView {
  return planView({ state, total: state.steps.length });
}

function planView({ state, total }: ParsedPlan): PlanView {
  const collapsed = state.steps.length === 0;
  const { done, blocked } = collapsed ? { done: total, blocked: 0 } : countSteps(state.steps);
  const steps = state.steps.map(({ id, title, status, note }) => ({ id, title, status, ...(note !== '' && { note }) }));
  return { found: true, version: state.version, steps, total, done, blocked, allDone: done === total };
}
