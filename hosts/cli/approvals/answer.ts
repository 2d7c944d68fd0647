import { type ApprovalAnswer, ApprovalError, answererText } from '../../../ports/approval-store.ts';
import type { ApprovalsDeps } from './deps.ts';

/** In the environment of everything that a tool of odek starts. */
const TOOL_MARK = 'ODEK_JOB';
const DONE: Readonly<Record<ApprovalAnswer, string>> = { approve: 'approved', trust: 'trusted for the session', deny: 'denied' };

/** `approvals approve|trust|deny <id>`. What a tool call runs is no person: it may deny, and nothing else. */
export async function answerRequest(id: string, decision: ApprovalAnswer, { approvals, by, env, out }: ApprovalsDeps): Promise<void> {
  if (decision !== 'deny' && env[TOOL_MARK] !== undefined) {
    throw new ApprovalError('approval_not_yours', 'this was started by a tool call of odek; a person has to answer', {
      value: answererText(by),
    });
  }
  await approvals.answer(id, decision, by);
  out(`${DONE[decision]}: ${id}`);
}
