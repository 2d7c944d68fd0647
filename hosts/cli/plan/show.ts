import { extractPlan } from '../../../core/plan/extract.ts';
import { renderPlanLines } from '../../../core/plan/lines.ts';
import { TRUNCATION_MARKER } from '../../../core/plan/render.ts';
import { clampPoints } from '../../../core/plan/text.ts';
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

/** Why a stored plan is not shown; undefined where it is, or where there is none. */
export function unshownPlan(session: StoredSession): string | undefined {
  const content = planMessageOf(session);
  if (content === undefined || planOf(session).found) return undefined;
  const [header = ''] = content.split('\n', 1);
  const cause = isCut(content) ? 'was larger than planning.max_render_chars and is stored in part' : 'cannot be read back';
  return `The plan of session ${session.header.id} ${cause}: ${clampPoints(sanitiseLine(header), MAX_HEADER)} The next turn starts without it.`;
}

const MAX_HEADER = 160;

function isCut(content: string): boolean {
  return content.includes(TRUNCATION_MARKER) || /^\[\+\d+ done steps omitted\]$/m.test(content);
}
