import type { Clock } from '../../../ports/clock.ts';
import { type Progress, statusLine } from './progress.ts';
import type { LiveLine } from './screen.ts';
import { type Painter, SGR } from './style.ts';
import type { CallRecord } from './tool-calls.ts';
import { runningLine } from './tool-lines.ts';

/** Running calls shown at once. */
const MAX_RUNNING_LINES = 8;
/** Milliseconds between two changes of the status line: at most eight a second. */
const STATUS_MS = 125;

function dimmer(painter: Painter): (text: string) => LiveLine {
  const paint = (fitted: string): string => painter.paint(SGR.dim, fitted);
  return (text) => ({ text, paint });
}

/** The calls that are running, the first eight by name. */
export function runningLines(running: readonly CallRecord[], columns: number, painter: Painter): LiveLine[] {
  const dim = dimmer(painter);
  const shown = running.slice(0, MAX_RUNNING_LINES).map((call) => dim(runningLine(call, columns - 1)));
  return running.length > shown.length ? [...shown, dim(`  … and ${running.length - shown.length} more`)] : shown;
}

/** The status line; its text changes at most eight times a second however often it is asked for. */
export function createStatus(progress: Progress, clock: Clock, painter: Painter): () => LiveLine {
  const dim = dimmer(painter);
  let text = '';
  let changedAt = Number.NEGATIVE_INFINITY;
  return () => {
    const now = clock.monotonic();
    if (now - changedAt >= STATUS_MS) {
      text = statusLine(progress, clock.now());
      changedAt = now;
    }
    return dim(text);
  };
}
