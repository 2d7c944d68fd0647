import { cellWidth } from './cells.ts';

/** Rows as lines, every column but the last as wide as its widest cell. Cells are sanitised before they get here. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const count = Math.max(0, ...rows.map((cells) => cells.length));
  const widths = Array.from({ length: Math.max(0, count - 1) }, (_, at) => Math.max(...rows.map((cells) => cellWidth(cells[at] ?? ''))));
  return rows.map((cells) =>
    cells
      .map((cell, at) => cell + ' '.repeat(Math.max(0, (widths[at] ?? 0) - cellWidth(cell))))
      .join('  ')
      .trimEnd(),
  );
}
