/** The plan as lines for a person: terminal panel, chat, `odek plan`. */
import type { PlanStepStatus, PlanView, PlanViewStep } from '../../ports/plan.ts';
import { clampPoints } from './text.ts';

const GLYPHS: Readonly<Record<PlanStepStatus, string>> = { done: '✅', in_progress: '🔄', pending: '⬜', blocked: '⛔' };
const NOTE_POINTS = 120;

const NO_PLAN_TEXT = 'No active plan in this session.';
/** The bound of a chat message, which leaves room under Telegram's 4096. */
export const PLAN_LINES_CHARS = 3800;

export interface PlanLinesOptions {
  /** UTF-16 units of all lines and their line breaks, before escaping. */
  readonly maxChars: number;
  /** Makes text safe where it is shown. Titles and notes come from a model. */
  escape(text: string): string;
}

/** Header and one line a step; whole lines that do not fit are counted in a last one. The header is always there. */
export function renderPlanLines(view: PlanView, options: PlanLinesOptions): readonly string[] {
  const escaped = (text: string): string => options.escape(text);
  if (!view.found) return [escaped(NO_PLAN_TEXT)];
  const rows = view.steps.map(stepRow);
  const header = headerRow(view);
  const shown = fitting(rows, header.length, options.maxChars);
  const lines = [header, ...rows.slice(0, shown)].map(escaped);
  const omitted = rows.length - shown;
  return omitted === 0 ? lines : [...lines, `_${escaped(omission(omitted))}_`];
}

function headerRow(view: PlanView): string {
  const blocked = view.blocked > 0 ? ` · ${view.blocked} blocked` : '';
  return `📋 Plan — v${view.version} · ${view.done}/${view.total} done${blocked}`;
}

function stepRow(step: PlanViewStep): string {
  const note = step.note === undefined ? '' : ` — ${clampPoints(step.note, NOTE_POINTS)}`;
  return `${GLYPHS[step.status]} ${step.id} ${step.title}${note}`;
}

function omission(count: number): string {
  return `${count} more step(s) omitted`;
}

/** How many rows fit, with room for the omission line where not all do. */
function fitting(rows: readonly string[], headerSize: number, maxChars: number): number {
  const whole = rows.reduce((sum, row) => sum + 1 + row.length, headerSize);
  if (whole <= maxChars) return rows.length;
  let size = headerSize;
  for (const [at, row] of rows.entries()) {
    size += 1 + row.length;
    const trailer = 3 + omission(rows.length - at - 1).length;
    if (size + trailer > maxChars) return at;
  }
  return rows.length;
}
