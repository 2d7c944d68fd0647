import type { ApprovalVerdict } from '../../ports/approval.ts';
import { displayText } from './display.ts';
import type { Judgement } from './judge.ts';

/** Who or what said no. */
export type DenialSource = 'configuration' | 'non_interactive' | 'user' | 'timeout';

export interface Denial {
  readonly allowed: false;
  /** What the model reads, behind `error: `. */
  readonly text: string;
  readonly by: DenialSource;
}

type Named = { readonly name: string };

/** In place of a name: the approver broke down, so nobody answered. */
export const FAILED = 'approver_failed';

export function deniedByConfiguration(judgement: Judgement, call: Named): Denial {
  return denied('configuration', `operation denied by configuration: ${told(judgement, call)}`);
}

export function deniedWithoutPerson(judgement: Judgement, call: Named): Denial {
  return denied(
    'non_interactive',
    `operation denied (non-interactive mode): ${told(judgement, call)}; nobody can approve it here, and ${waysOut(judgement)}`,
  );
}

function waysOut({ everyCall, needsPerson, askedBy, class: cls }: Judgement): string {
  if (askedBy) return `${askedBy} wants one to be asked each time`;
  if (everyCall) return 'its server does without a person once the operator sets it to approve: "register"';
  if (needsPerson) return 'the operator can allow it with dangerous.action: "allow"';
  return `the operator can allow it with dangerous.classes.${cls}: "allow" or dangerous.non_interactive: "allow"`;
}

/** A verdict that is no yes. With `batch` it was about several calls on one card. */
export function refusedBy(verdict: ApprovalVerdict, judgement: Judgement, call: Named, batch = false): Denial {
  if (verdict.decision === 'timeout') return denied('timeout', `approval timeout: ${told(judgement, call)}; nobody answered in time`);
  if (verdict.by === FAILED)
    return denied('non_interactive', `operation denied (non-interactive mode): ${told(judgement, call)}; asking failed`);
  return denied('user', batch ? 'batch approval denied' : `operation denied by user: ${told(judgement, call)}`);
}

function told({ class: cls, resource, reason }: Judgement, call: Named): string {
  return `${displayText(call.name)} ${displayText(resource)} (${cls}): ${displayText(reason)}`;
}

function denied(by: DenialSource, text: string): Denial {
  return { allowed: false, by, text };
}
