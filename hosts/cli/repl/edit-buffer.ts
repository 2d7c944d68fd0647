import { graphemes } from '../render/cells.ts';

/** The text being edited and where the cursor is (UTF-16 index). Pure: each edit gives a new buffer. */
export interface EditBuffer {
  readonly text: string;
  readonly cursor: number;
}

export const EMPTY: EditBuffer = { text: '', cursor: 0 };

/** Characters of one input. */
export const MAX_INPUT_CHARS = 1_048_576;

export function insert({ text, cursor }: EditBuffer, added: string): EditBuffer {
  const room = MAX_INPUT_CHARS - text.length;
  const fitting = added.slice(0, Math.max(0, room));
  return { text: text.slice(0, cursor) + fitting + text.slice(cursor), cursor: cursor + fitting.length };
}

/** The index one visible character to the left: never inside an emoji or an accent. */
function before({ text, cursor }: EditBuffer): number {
  // A grapheme never spans a newline, so the current line suffices.
  const start = text.lastIndexOf('\n', cursor - 1) + 1;
  const last = graphemes(text.slice(start, cursor)).at(-1);
  return cursor - (last?.length ?? Math.min(1, cursor));
}

function after({ text, cursor }: EditBuffer): number {
  const end = text.indexOf('\n', cursor);
  const first = graphemes(text.slice(cursor, end === -1 ? undefined : end))[0];
  return Math.min(text.length, cursor + (first?.length ?? 1));
}

function wordStart({ text, cursor }: EditBuffer): number {
  return text.slice(0, cursor).replace(/[^\s]*\s*$/u, '').length;
}

function wordEnd({ text, cursor }: EditBuffer): number {
  return cursor + (/^\s*\S*/u.exec(text.slice(cursor))?.[0].length ?? 0);
}

function lineStart({ text, cursor }: EditBuffer): number {
  return text.lastIndexOf('\n', cursor - 1) + 1;
}

function lineEnd({ text, cursor }: EditBuffer): number {
  const end = text.indexOf('\n', cursor);
  return end === -1 ? text.length : end;
}

function remove(buffer: EditBuffer, from: number, to: number): EditBuffer {
  return { text: buffer.text.slice(0, from) + buffer.text.slice(to), cursor: from };
}

/** Edits and movements by name; a key table picks among them. */
export const EDITS = {
  left: (buffer: EditBuffer): EditBuffer => ({ ...buffer, cursor: before(buffer) }),
  right: (buffer: EditBuffer): EditBuffer => ({ ...buffer, cursor: after(buffer) }),
  wordLeft: (buffer: EditBuffer): EditBuffer => ({ ...buffer, cursor: wordStart(buffer) }),
  wordRight: (buffer: EditBuffer): EditBuffer => ({ ...buffer, cursor: wordEnd(buffer) }),
  lineStart: (buffer: EditBuffer): EditBuffer => ({ ...buffer, cursor: lineStart(buffer) }),
  lineEnd: (buffer: EditBuffer): EditBuffer => ({ ...buffer, cursor: lineEnd(buffer) }),
  backspace: (buffer: EditBuffer): EditBuffer => remove(buffer, before(buffer), buffer.cursor),
  delete: (buffer: EditBuffer): EditBuffer => remove(buffer, buffer.cursor, after(buffer)),
  wordBackspace: (buffer: EditBuffer): EditBuffer => remove(buffer, wordStart(buffer), buffer.cursor),
  wordDelete: (buffer: EditBuffer): EditBuffer => remove(buffer, buffer.cursor, wordEnd(buffer)),
  killToStart: (buffer: EditBuffer): EditBuffer => remove(buffer, lineStart(buffer), buffer.cursor),
  killToEnd: (buffer: EditBuffer): EditBuffer => remove(buffer, buffer.cursor, lineEnd(buffer)),
} as const;

export type EditName = keyof typeof EDITS;

/** The cursor one line up or down in the same column, or `undefined` where there is no such line. */
export function moveLine(buffer: EditBuffer, direction: -1 | 1): EditBuffer | undefined {
  const start = lineStart(buffer);
  const column = buffer.cursor - start;
  if (direction === -1) {
    if (start === 0) return undefined;
    const target = lineStart({ ...buffer, cursor: start - 1 });
    return { ...buffer, cursor: Math.min(target + column, start - 1) };
  }
  const end = lineEnd(buffer);
  if (end === buffer.text.length) return undefined;
  return { ...buffer, cursor: Math.min(end + 1 + column, lineEnd({ ...buffer, cursor: end + 1 })) };
}
