import { parsePlan } from '../../../core/plan/parse.ts';
import { type CheckStatus, STEP_CEILING } from '../../../core/plan/state.ts';
import { REDACTED } from '../../../core/redact/redactor.ts';
import type { LlmProvider, ModelEvent } from '../../../ports/llm.ts';
import type { ToolOutcome } from '../../../ports/message.ts';
import { columns } from '../render/columns.ts';
import { sanitiseLine } from '../render/sanitise.ts';
import { planMessageOf, type StoredSession } from './show.ts';

/** A declared check of a stored plan. */
export interface DeclaredCheck {
  readonly step: string;
  readonly check: string;
  readonly description: string;
  readonly tool: string;
  /** JSON text. */
  readonly arguments: string;
  readonly recorded: CheckStatus;
}

/** What a check came to: as in the plan, or why it was not run. */
export type StatusNow = CheckStatus | 'cancelled' | 'not run';

export interface CheckedAgain extends DeclaredCheck {
  readonly now: StatusNow;
  /** Why it is not run. */
  readonly reason?: string;
}

/** The checks of a session's plan in order; none where there is no plan. */
export function declaredChecks(session: StoredSession): readonly DeclaredCheck[] {
  const content = planMessageOf(session);
  const steps = (content === undefined ? undefined : parsePlan(content, STEP_CEILING))?.state.steps ?? [];
  return steps.flatMap((step) =>
    step.checks.map(({ id, description, tool, arguments: text, status }) => ({
      step: step.id,
      check: id,
      description,
      tool,
      arguments: text,
      recorded: status,
    })),
  );
}

/** A secret is stored as a mask: such a call would not be the one that was declared. */
export function isMasked(check: DeclaredCheck): boolean {
  return check.arguments.includes(REDACTED);
}

const NOW: Readonly<Record<ToolOutcome, StatusNow>> = {
  completed: 'passed',
  failed: 'failed',
  denied: 'blocked',
  cancelled: 'cancelled',
  skipped_budget: 'not run',
  unknown: 'not run',
};

/** `outcome` is undefined for a check whose turn did not come. */
export function checkedAgain(check: DeclaredCheck, outcome: ToolOutcome | undefined): CheckedAgain {
  if (isMasked(check)) return { ...check, now: 'not run', reason: 'its arguments hold a secret, which is stored masked' };
  if (outcome === undefined || outcome === 'skipped_budget') {
    return { ...check, now: 'not run', reason: outcome === undefined ? 'the run ended before' : 'the budget was used up' };
  }
  return { ...check, now: NOW[outcome] };
}

/** What a person reads: each check, how it is recorded, and what it came to now. */
export function verificationTable(rows: readonly CheckedAgain[]): readonly string[] {
  const cells = rows.map(({ step, check, recorded, now, reason }) => [
    sanitiseLine(`${step}/${check}`),
    recorded,
    reason === undefined ? now : `${now}: ${reason}`,
  ]);
  return columns([['CHECK', 'RECORDED', 'NOW'], ...cells]);
}

export function callIdOf(index: number): string {
  return `check-${index + 1}`;
}

const THE_END = 'All checks have run.';

/**
 * In the place of a model: asks for one check after the other and then ends. It reads nothing of what
 * comes back, so no result can change what is run.
 */
export function createCheckProvider(checks: readonly DeclaredCheck[]): LlmProvider {
  const usage = { input: 0, output: 0, estimated: false };
  let next = 0;

  const replies = (mayCall: boolean): readonly ModelEvent[] => {
    const check = mayCall ? checks[next] : undefined;
    if (check === undefined) {
      const message = { role: 'assistant', content: THE_END } as const;
      return [
        { type: 'text_delta', text: THE_END },
        { type: 'response', message, finish: 'stop', usage },
      ];
    }
    const call = { id: callIdOf(next), name: check.tool, arguments: check.arguments };
    next += 1;
    return [{ type: 'response', message: { role: 'assistant', content: '', toolCalls: [call] }, finish: 'tool_calls', usage }];
  };

  return {
    name: 'plan-checks',
    async *stream({ tools }) {
      // A request without tools is a side call; there is nothing to say to it.
      yield* replies(tools.length > 0);
    },
    limits: () => ({}),
    close: async () => {},
  };
}
