import { renderPlanLines } from '../../../core/plan/lines.ts';
import type { RunEvent } from '../../../ports/event.ts';
import type { PlanView } from '../../../ports/plan.ts';
import { truncateCells } from './cells.ts';
import { counted } from './figures.ts';
import { sanitiseLine } from './sanitise.ts';
import type { LiveLine } from './screen.ts';
import { type Painter, SGR } from './style.ts';

/** The plan of a run as a person sees it: standing below the output, and once more at the end. */
export interface PlanPanel {
  /** Takes any event. True for one that the panel tells, so that no note need repeat it. */
  take(event: RunEvent): boolean;
  /** The lines that stand below the output; none without an open plan. */
  lines(size: { readonly columns: number; readonly rows: number }): LiveLine[];
  /** The whole plan for good, when the run changed it. */
  finalLines(columns: number): readonly string[];
}

/** Steps that stand below the output at once. */
const MAX_STEPS = 8;
/** Rows that are left to everything else. */
const OTHER_ROWS = 8;
const MAX_CHARS = 65_536;

function linesOf(view: PlanView): readonly string[] {
  return renderPlanLines(view, { maxChars: MAX_CHARS, escape: sanitiseLine });
}

/** Where the shown steps begin: one finished step before the work that is going on. */
function firstShown(view: PlanView, room: number): number {
  const open = view.steps.findIndex(({ status }) => status !== 'done');
  return Math.max(0, Math.min(open - 1, view.steps.length - room));
}

export function createPlanPanel(painter: Painter): PlanPanel {
  let view: PlanView | undefined;
  let changed = false;

  const plain = (text: string): LiveLine => ({ text, paint: (fitted) => fitted });
  const dim = (text: string): LiveLine => ({ text, paint: (fitted) => painter.paint(SGR.dim, fitted) });

  return {
    take(event) {
      if (event.type === 'plan') view = event.view;
      else if (event.type === 'plan_created' || event.type === 'plan_updated') changed = true;
      else return false;
      return true;
    },
    lines({ rows }) {
      if (view === undefined || view.allDone) return [];
      const [header = '', ...steps] = linesOf(view);
      const room = Math.max(1, Math.min(MAX_STEPS, rows - OTHER_ROWS));
      const first = firstShown(view, room);
      const shown = steps
        .slice(first, first + room)
        .map((line, at) => (view?.steps[first + at]?.status === 'done' ? dim(line) : plain(line)));
      const hidden = steps.length - shown.length;
      return [plain(header), ...shown, ...(hidden > 0 ? [dim(`   … and ${counted(hidden, 'more step')}`)] : [])];
    },
    finalLines(columns) {
      return view === undefined || !changed ? [] : linesOf(view).map((line) => truncateCells(line, columns - 1));
    },
  };
}
