const CONTEXT_LINES = 3;

/** Lines of one side at most. */
export const MAX_LINES = 10_000;
/** Cells of the table: differing lines of one side times those of the other. */
export const MAX_CELLS = 4_000_000;

/** A stretch of changes with up to three unchanged lines around it; line numbers start at 1. */
export interface Hunk {
  readonly old_start: number;
  readonly old_lines: number;
  readonly new_start: number;
  readonly new_lines: number;
  /** Each begins with a space, `-` or `+`. */
  readonly lines: readonly string[];
}

export interface LineDiff {
  readonly added: number;
  readonly removed: number;
  readonly hunks: readonly Hunk[];
}

interface Edit {
  readonly mark: ' ' | '-' | '+';
  readonly line: string;
}

/** The smallest set of changed lines that leads from `before` to `after`; a text where a limit was crossed. */
export function diffLines(before: readonly string[], after: readonly string[]): LineDiff | string {
  const longest = Math.max(before.length, after.length);
  if (longest > MAX_LINES) return `one side has ${longest} lines; at most ${MAX_LINES} are compared`;
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < before.length - head && tail < after.length - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const [old, changed] = [before.slice(head, before.length - tail), after.slice(head, after.length - tail)];
  if (old.length * changed.length > MAX_CELLS) {
    return `they differ over ${old.length} and ${changed.length} lines, which is more than ${MAX_CELLS} cells; compare smaller parts`;
  }
  const edits = [...kept(before.slice(0, head)), ...editsBetween(old, changed), ...kept(before.slice(before.length - tail))];
  return {
    added: edits.filter(({ mark }) => mark === '+').length,
    removed: edits.filter(({ mark }) => mark === '-').length,
    hunks: hunksOf(edits),
  };
}

const kept = (lines: readonly string[]): Edit[] => lines.map((line) => ({ mark: ' ', line }));

/** Longest common subsequence, by the table of its lengths. */
function editsBetween(old: readonly string[], changed: readonly string[]): Edit[] {
  const width = changed.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  const [a, b] = numbered(old, changed);
  const at = (row: number, column: number): number => lengths[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row -= 1) {
    for (let column = changed.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        a[row] === b[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const edits: Edit[] = [];
  let [row, column] = [0, 0];
  while (row < old.length || column < changed.length) {
    if (row < old.length && column < changed.length && a[row] === b[column]) {
      edits.push({ mark: ' ', line: old[row] ?? '' });
      row += 1;
      column += 1;
    } else if (column === changed.length || (row < old.length && at(row + 1, column) >= at(row, column + 1))) {
      edits.push({ mark: '-', line: old[row] ?? '' });
      row += 1;
    } else {
      edits.push({ mark: '+', line: changed[column] ?? '' });
      column += 1;
    }
  }
  return edits;
}

/** Each line as a number, the same for equal lines, so that cells compare quickly. */
function numbered(...sides: readonly (readonly string[])[]): readonly [Uint32Array, Uint32Array] {
  const numbers = new Map<string, number>();
  const numberOf = (line: string): number => {
    const known = numbers.get(line) ?? numbers.size;
    numbers.set(line, known);
    return known;
  };
  const [a = [], b = []] = sides;
  return [Uint32Array.from(a, numberOf), Uint32Array.from(b, numberOf)];
}

function hunksOf(edits: readonly Edit[]): readonly Hunk[] {
  const hunks: Hunk[] = [];
  let [oldLine, newLine] = [1, 1];
  let at = 0;
  for (const { from, to } of stretches(edits)) {
    for (; at < from; at += 1) {
      oldLine += 1;
      newLine += 1;
    }
    const part = edits.slice(from, to);
    const removed = part.filter(({ mark }) => mark === '-').length;
    const added = part.filter(({ mark }) => mark === '+').length;
    const [oldCount, newCount] = [part.length - added, part.length - removed];
    const lines = part.map(({ mark, line }) => `${mark}${line}`);
    hunks.push({ old_start: oldLine, old_lines: oldCount, new_start: newLine, new_lines: newCount, lines });
    oldLine += oldCount;
    newLine += newCount;
    at = to;
  }
  return hunks;
}

/** Where hunks begin and end: changes that are close together share one. */
function stretches(edits: readonly Edit[]): readonly { readonly from: number; readonly to: number }[] {
  const found: { from: number; to: number }[] = [];
  for (const [at, { mark }] of edits.entries()) {
    if (mark === ' ') continue;
    const last = found.at(-1);
    const from = Math.max(0, at - CONTEXT_LINES);
    const to = Math.min(edits.length, at + 1 + CONTEXT_LINES);
    if (last && from <= last.to) last.to = to;
    else found.push({ from, to });
  }
  return found;
}
