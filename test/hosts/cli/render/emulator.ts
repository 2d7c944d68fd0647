import { cellWidth, graphemes } from '../../../../hosts/cli/render/cells.ts';

/**
 * A small terminal: what a person sees after some output. It knows the escapes that odek may use
 * and records every other one, so that a test can say that there was none.
 */
export interface Emulator {
  write(text: string): void;
  /** Changes the size; lines that were wrapped are wrapped anew, as most terminals do. */
  resize(columns: number, rows: number): void;
  /** Everything from the top of the scroll-back, without trailing blanks. */
  lines(): string[];
  text(): string;
  /** Escapes and control characters outside the small set. */
  foreign(): readonly string[];
}

interface Row {
  cells: string[];
  wrapped: boolean;
}

const ESC = '\u001b';
const CONTROL_SEQUENCE = /\[([?\d;]*)([A-Za-z~])/y;
const WIDE_REST = '';

export function createEmulator(initialColumns = 80, initialRows = 24): Emulator {
  let columns = initialColumns;
  let rows = initialRows;
  let screen: Row[] = [{ cells: [], wrapped: false }];
  let row = 0;
  let column = 0;
  const foreign: string[] = [];

  const top = (): number => Math.max(0, screen.length - rows);
  const current = (): Row => {
    while (screen.length <= row) screen.push({ cells: [], wrapped: false });
    return screen[row] as Row;
  };
  const newline = (wrapped: boolean): void => {
    current().wrapped = wrapped;
    row += 1;
    column = 0;
    current();
  };

  const put = (cluster: string): void => {
    const width = cellWidth(cluster);
    if (width === 0) return;
    if (column + width > columns) newline(true);
    const { cells } = current();
    while (cells.length < column) cells.push(' ');
    cells[column] = cluster;
    if (width === 2) cells[column + 1] = WIDE_REST;
    column += width;
  };

  const eraseBelow = (): void => {
    const line = current();
    line.cells.length = Math.min(line.cells.length, column);
    line.wrapped = false;
    screen = screen.slice(0, row + 1);
  };

  const control = (parameters: string, final: string, whole: string): void => {
    const count = Math.max(1, Number.parseInt(parameters || '1', 10) || 1);
    if (final === 'm' || (parameters === '?2004' && (final === 'h' || final === 'l'))) return;
    if (final === 'A') row = Math.max(top(), row - count);
    else if (final === 'B') row = Math.min(screen.length - 1, row + count);
    else if (final === 'C') column = Math.min(columns - 1, column + count);
    else if (final === 'J' && parameters === '') eraseBelow();
    else foreign.push(whole);
  };

  /** Handles the escape at `at`; gives the index behind it. */
  const takeEscape = (text: string, at: number): number => {
    CONTROL_SEQUENCE.lastIndex = at + 1;
    const match = CONTROL_SEQUENCE.exec(text);
    if (match === null) foreign.push(text.slice(at, at + 2));
    else control(match[1] ?? '', match[2] ?? '', match[0]);
    return at + 1 + (match?.[0].length ?? 0);
  };

  return {
    write(text) {
      for (let at = 0; at < text.length; ) {
        const character = text[at] as string;
        if (character === ESC) {
          at = takeEscape(text, at);
          continue;
        }
        if (character === '\r') column = 0;
        else if (character === '\n') {
          // The terminal's driver turns LF into CR LF.
          newline(false);
        } else if (/\p{Cc}/u.test(character) && character !== '\t') foreign.push(character);
        else {
          const end = /[\p{Cc}]/u.exec(text.slice(at + 1))?.index;
          const run = text.slice(at, end === undefined ? undefined : at + 1 + end);
          for (const cluster of graphemes(run)) put(cluster === '\t' ? ' ' : cluster);
          at += run.length;
          continue;
        }
        at += 1;
      }
    },
    resize(nextColumns, nextRows) {
      const logical: string[][] = [];
      let open = false;
      let cursorLine = 0;
      let cursorOffset = 0;
      for (const [index, line] of screen.entries()) {
        if (!open) logical.push([]);
        const target = logical.at(-1) as string[];
        if (index === row) {
          cursorLine = logical.length - 1;
          cursorOffset = target.length + column;
        }
        target.push(...line.cells);
        open = line.wrapped;
      }
      columns = nextColumns;
      rows = nextRows;
      screen = [];
      for (const [index, cells] of logical.entries()) {
        const start = screen.length;
        const parts = Math.max(1, Math.ceil(cells.length / columns));
        for (let part = 0; part < parts; part += 1) {
          screen.push({ cells: cells.slice(part * columns, (part + 1) * columns), wrapped: part < parts - 1 });
        }
        if (index === cursorLine) {
          row = start + Math.floor(cursorOffset / columns);
          column = cursorOffset % columns;
        }
      }
      current();
    },
    lines() {
      const lines = screen.map((line) => line.cells.join('').trimEnd());
      while (lines.at(-1) === '') lines.pop();
      return lines;
    },
    text() {
      return this.lines().join('\n');
    },
    foreign: () => foreign,
  };
}
