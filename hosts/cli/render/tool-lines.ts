import { cellWidth, truncateCells } from './cells.ts';
import { formatBytes, formatDuration } from './figures.ts';
import { sanitise, sanitiseLine } from './sanitise.ts';
import { type Painter, SGR } from './style.ts';
import type { CallRecord } from './tool-calls.ts';
import { argsPreview, toolGlyph } from './tool-preview.ts';

export interface ToolLineStyle {
  readonly painter: Painter;
  /** Cells of a line. */
  readonly width: number;
  readonly glyphs: boolean;
}

const MAX_NAME_CELLS = 40;
const VERBOSE_RESULT_LINES = 10;

const MARKS: Readonly<Record<NonNullable<CallRecord['outcome']>, { mark: string; sgr: string; word: string }>> = {
  completed: { mark: '✓', sgr: SGR.good, word: '' },
  failed: { mark: '✗', sgr: SGR.bad, word: 'failed' },
  denied: { mark: '⊘', sgr: SGR.caution, word: 'denied' },
  cancelled: { mark: '⊘', sgr: SGR.caution, word: 'cancelled' },
  skipped_budget: { mark: '⊘', sgr: SGR.caution, word: 'skipped, budget used up' },
  unknown: { mark: '?', sgr: SGR.caution, word: 'outcome unknown' },
};

function head(call: CallRecord, glyphs: boolean): string {
  const name = truncateCells(sanitiseLine(call.tool), MAX_NAME_CELLS);
  return glyphs ? `${toolGlyph(call.tool)} ${name}` : name;
}

function facts(call: CallRecord): string {
  const parts = [
    call.outcome === undefined ? '' : MARKS[call.outcome].word,
    call.durationMs === undefined ? '' : formatDuration(call.durationMs),
    call.resultBytes === undefined ? '' : formatBytes(call.resultBytes),
  ].filter((part) => part !== '');
  return parts.length === 0 ? '' : ` · ${parts.join(' · ')}`;
}

/** `⋯ 📖 read_file src/a.ts` */
export function runningLine(call: CallRecord, width: number): string {
  const start = `  ⋯ ${head(call, true)}`;
  const preview = argsPreview(call.args, call.summary, Math.max(0, width - cellWidth(start) - 1));
  return preview === '' ? start : `${start} ${preview}`;
}

/** `✓ 📖 read_file src/a.ts · 12 ms · 3.4 kB` */
function finishedLine(call: CallRecord, { painter, width, glyphs }: ToolLineStyle): string {
  const { mark, sgr } = MARKS[call.outcome ?? 'unknown'];
  const name = head(call, glyphs);
  const tail = facts(call);
  const room = width - cellWidth(`  ${mark} ${name} ${tail}`);
  const preview = argsPreview(call.args, call.summary, Math.max(0, room));
  return `  ${painter.paint(sgr, mark)} ${name}${preview === '' ? '' : ` ${preview}`}${painter.paint(SGR.dim, tail)}`;
}

/** The first line of what went wrong; where that only announces what follows, the next one too. */
function reasonLine(call: CallRecord, { painter, width }: ToolLineStyle): string[] {
  if (call.outcome === 'completed' || call.content === undefined) return [];
  const [first, next] = call.content.split('\n').filter((line) => line.trim() !== '');
  if (first === undefined) return [];
  const text = first.trimEnd().endsWith(':') && next !== undefined ? `${first} ${next}` : first;
  return [painter.paint(SGR.dim, `      ${truncateCells(sanitiseLine(text), Math.max(10, width - 6))}`)];
}

function verboseLines(call: CallRecord, { painter, width }: ToolLineStyle): string[] {
  const fit = (line: string): string =>
    painter.paint(SGR.dim, `      ${truncateCells(line.replaceAll('\t', '    '), Math.max(10, width - 6))}`);
  const args = call.args === undefined ? [] : [`args: ${sanitiseLine(call.args.slice(0, 4_000))}`];
  const all = sanitise(call.content ?? '')
    .trimEnd()
    .split('\n');
  const shown = all.slice(0, VERBOSE_RESULT_LINES);
  const more = all.length > shown.length ? [`… ${all.length - shown.length} more lines`] : [];
  return [...args, ...shown.filter((line, index) => line !== '' || index > 0), ...more].map(fit);
}

/** One line a call; a second with the reason where it did not complete; arguments and result where `verbose`. */
export function callLines(call: CallRecord, style: ToolLineStyle, verbose: boolean): string[] {
  return [finishedLine(call, style), ...(verbose ? verboseLines(call, style) : reasonLine(call, style))];
}
