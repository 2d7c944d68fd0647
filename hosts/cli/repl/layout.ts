import { cellWidth, graphemes } from '../render/cells.ts';
import { sanitise } from '../render/sanitise.ts';
import type { EditBuffer } from './edit-buffer.ts';

/** An input as rows of a screen, and where the cursor stands. */
export interface Layout {
  readonly rows: readonly string[];
  readonly cursorRow: number;
  /** In cells. */
  readonly cursorColumn: number;
}

export interface LayoutOptions {
  /** Cells of a row. */
  readonly columns: number;
  /** Rows that may be used; of more, those around the cursor are shown. */
  readonly maxRows: number;
  /** Before the first line, and before each further one. */
  readonly prompt: string;
  readonly continuation: string;
}

const TAB = '    ';

function shown(cluster: string): string {
  return cluster === '\t' ? TAB : sanitise(cluster);
}

/** Breaks at the edge, inside words too: the cursor must be able to stand on every character. */
export function layOut({ text, cursor }: EditBuffer, { columns, maxRows, prompt, continuation }: LayoutOptions): Layout {
  const width = Math.max(cellWidth(prompt) + 2, columns - 1);
  const rows: string[] = [];
  let cursorRow = 0;
  let cursorColumn = 0;
  let at = 0;
  for (const [index, line] of text.split('\n').entries()) {
    let row = index === 0 ? prompt : continuation;
    let used = cellWidth(row);
    const mark = (): void => {
      if (at !== cursor) return;
      cursorRow = rows.length;
      cursorColumn = used;
    };
    for (const cluster of graphemes(line)) {
      const drawn = shown(cluster);
      const cells = cellWidth(drawn);
      if (used + cells > width) {
        rows.push(row);
        row = '';
        used = 0;
      }
      mark();
      row += drawn;
      used += cells;
      at += cluster.length;
    }
    mark();
    rows.push(row);
    at += 1;
  }
  const first = Math.max(0, Math.min(cursorRow - maxRows + 1, rows.length - maxRows));
  return { rows: rows.slice(first, first + maxRows), cursorRow: cursorRow - first, cursorColumn };
}
