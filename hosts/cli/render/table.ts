import type { Tokens } from 'marked';
import { cellWidth, type Span, wrapSpans } from './cells.ts';
import { inlineSpans } from './inline.ts';
import { type MarkdownTarget, SGR } from './style.ts';

const SEPARATOR = ' │ ';
const MIN_COLUMN = 3;
/** More columns than this cannot be read side by side; the table is shown as source. */
const MAX_COLUMNS = 40;

type Row = readonly (readonly Span[])[];

function spanWidth(spans: readonly Span[]): number {
  return Math.max(
    0,
    ...spans
      .map((span) => span.text)
      .join('')
      .split('\n')
      .map(cellWidth),
  );
}

/** Takes from the widest column until the row fits; `MIN_COLUMN` is the least any column keeps. */
function fitColumns(natural: readonly number[], room: number): number[] {
  const widths = natural.map((width) => Math.max(1, width));
  let excess = widths.reduce((sum, width) => sum + width, 0) - room;
  while (excess > 0) {
    const widest = Math.max(...widths);
    if (widest <= MIN_COLUMN) break;
    const next = Math.max(MIN_COLUMN, ...widths.filter((width) => width < widest));
    const tied = widths.filter((width) => width === widest).length;
    const cut = Math.min(widest - next || 1, Math.max(1, Math.ceil(excess / tied)));
    for (const [index, width] of widths.entries()) {
      if (width !== widest || excess <= 0) continue;
      const taken = Math.min(cut, excess);
      widths[index] = width - taken;
      excess -= taken;
    }
  }
  return widths;
}

function pad(cell: string, used: number, width: number, align: Tokens.TableCell['align']): string {
  const free = Math.max(0, width - used);
  const left = align === 'right' ? free : align === 'center' ? Math.floor(free / 2) : 0;
  return ' '.repeat(left) + cell + ' '.repeat(free - left);
}

function rowLines(row: Row, widths: readonly number[], token: Tokens.Table, { painter }: MarkdownTarget): string[] {
  const cells = row.map((spans, column) => wrapSpans(spans, widths[column] ?? MIN_COLUMN));
  const height = Math.max(1, ...cells.map((lines) => lines.length));
  const bar = painter.paint(SGR.dim, SEPARATOR);
  return Array.from({ length: height }, (_, index) =>
    cells
      .map((lines, column) => {
        const line = lines[index] ?? [];
        return pad(painter.line(line), spanWidth(line), widths[column] ?? MIN_COLUMN, token.align[column] ?? null);
      })
      .join(bar)
      .trimEnd(),
  );
}

/** A table with its columns fitted into the target's width; cells wrap. */
export function tableLines(token: Tokens.Table, target: MarkdownTarget): string[] {
  const { painter } = target;
  if (token.header.length > MAX_COLUMNS) return wrapSpans([{ text: token.raw.trimEnd(), sgr: '' }], target.width).map(painter.line);
  const header = token.header.map((cell) => inlineSpans(cell.tokens, SGR.bold, painter.color));
  const rows = token.rows.map((row) => row.map((cell) => inlineSpans(cell.tokens, SGR.plain, painter.color)));
  const natural = header.map((cell, column) => Math.max(spanWidth(cell), ...rows.map((row) => spanWidth(row[column] ?? []))));
  const widths = fitColumns(natural, target.width - SEPARATOR.length * (header.length - 1));
  const rule = painter.paint(SGR.dim, widths.map((width) => '─'.repeat(width)).join('─┼─'));
  return [...rowLines(header, widths, token, target), rule, ...rows.flatMap((row) => rowLines(row, widths, token, target))];
}
