import { PLAN_LINES_CHARS, renderPlanLines } from '../../../core/plan/lines.ts';
import type { ChatText } from '../../../ports/chat-message.ts';
import type { PlanView } from '../../../ports/plan.ts';

/** Titles and notes come from a model: a line of the plan stays a line. */
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').toWellFormed();

/** The plan as one message of at most 3800 units. What was left out is told in italics, which a chat has no need to write as `_`. */
export function planText(view: PlanView): ChatText {
  const lines = renderPlanLines(view, { maxChars: PLAN_LINES_CHARS, escape: oneLine });
  const last = lines.at(-1) ?? '';
  // Every other line begins with a glyph.
  if (!/^_.*_$/.test(last)) return { text: lines.join('\n'), entities: [] };
  const omitted = last.slice(1, -1);
  const above = `${lines.slice(0, -1).join('\n')}\n`;
  return { text: above + omitted, entities: [{ type: 'italic', offset: above.length, length: omitted.length }] };
}
