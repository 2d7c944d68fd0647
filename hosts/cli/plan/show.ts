import { extractPlan } from '../../../core/plan/extract.ts';
import { renderPlanLines } from '../../../core/plan/lines.ts';
import { foldJournal } from '../../../core/transcript/fold.ts';
import type { PlanView } from '../../../ports/plan.ts';
import type { SessionHeader, StoredRecord } from '../../../ports/session.ts';
import { sanitiseLine } from '../render/sanitise.ts';

/** A session as it is stored. */
export interface StoredSession {
  readonly header: SessionHeader;
  readonly records: readonly StoredRecord[];
}

/** Characters of all lines; more than the largest plan has. */
const MAX_CHARS = 65_536;

/** The content of the plan message. Only its slot counts: what a model or a tool wrote elsewhere is no plan. */
export function planMessageOf({ records }: StoredSession): string | undefined {
  return foldJournal(records).slots.get('plan');
}

export function planOf(session: StoredSession): PlanView {
  const content = planMessageOf(session);
  return extractPlan(content === undefined ? [] : [{ role: 'system', content }]);
}

/** The plan of a session as lines, or as one line of JSON. */
export function showPlan(session: StoredSession, json: boolean): readonly string[] {
  const view = planOf(session);
  if (json) return [JSON.stringify({ session_id: session.header.id, ...view })];
  return renderPlanLines(view, { maxChars: MAX_CHARS, escape: sanitiseLine });
}
