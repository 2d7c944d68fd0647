/** Trusted texts that steer the model. They carry no plan text and no tool output. */
import type { ReassessmentReason } from './reassess.ts';

export const BLOCKED_STREAK_HINT =
  '[odek: three plan steps in a row became blocked. Use plan revise to split a blocked step into smaller ones or to supersede it with another approach; do not retry what was denied.]';

const CAUSES: Readonly<Record<ReassessmentReason, string>> = {
  repeated_check_failure: 'the same acceptance check has failed in three batches',
  varied_tool_failures: 'three batches in a row have failed with the same class of error',
};

/** For the next model request after a reassessment trigger. */
export function reassessmentHint(reason: ReassessmentReason): string {
  return `[odek: ${CAUSES[reason]}. Reconsider the approach: change it, split the work with plan revise, or delegate a bounded investigation and report the blocker. Keep the declared checks; approvals and budgets stay as they are.]`;
}

/** The sentence about planning in the default system prompt. */
export const PLANNING_PROMPT =
  'For multi-step work, maintain a plan with the plan tool: create steps up front, keep statuses current, replan when blocked. The plan survives context trimming — trust it over your memory of earlier turns.';
