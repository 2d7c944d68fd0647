import { displayText } from '../approvals/display.ts';
import type { BundleFile } from './hashes.ts';

/** A file of which nothing is known but its bytes' hash, or its text. */
export interface ChangeInput {
  readonly before: readonly BundleFile[];
  readonly after: readonly BundleFile[];
  /** Undefined for what is no text, or is too large to be shown. */
  textBefore(path: string): string | undefined;
  textAfter(path: string): string | undefined;
}

const MAX_LINES = 400;
/** Cells of the table that the longest common part is looked for in. */
const MAX_CELLS = 1_000_000;
const MAX_LINE_CHARS = 200;

/** What changed between two states of a bundle, as lines to show: `+` new, `-` gone, `~` other, with the lines of a text. At most 400. */
export function bundleChanges({ before, after, textBefore, textAfter }: ChangeInput): readonly string[] {
  const old = new Map(before.map((file) => [file.path, file]));
  const now = new Map(after.map((file) => [file.path, file]));
  const lines: string[] = [];
  for (const path of [...new Set([...old.keys(), ...now.keys()])].sort()) {
    const [was, is] = [old.get(path), now.get(path)];
    if (was?.sha256 === is?.sha256) continue;
    const mark = was === undefined ? '+' : is === undefined ? '-' : '~';
    lines.push(
      `${mark} ${displayText(path)}  (${was === undefined ? 'new' : `${was.size} bytes`} → ${is === undefined ? 'gone' : `${is.size} bytes`})`,
    );
    if (is !== undefined)
      lines.push(...textChanges(was === undefined ? '' : textBefore(path), textAfter(path)).map((line) => `    ${line}`));
  }
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), `… ${lines.length - MAX_LINES} more lines`];
}

/** The lines that went and came, in their order. */
export function textChanges(before: string | undefined, after: string | undefined): readonly string[] {
  if (before === undefined || after === undefined) return ['(no text, or too large to show)'];
  const [old, now] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const [gone, come] = [old.slice(head, old.length - tail), now.slice(head, now.length - tail)];
  const changes = gone.length * come.length > MAX_CELLS ? [...gone.map(minus), ...come.map(plus)] : compared(gone, come);
  return changes.length === 0 ? [] : [`@ line ${head + 1}`, ...changes];
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

const minus = (line: string): string => `- ${safe(line)}`;
const plus = (line: string): string => `+ ${safe(line)}`;
const safe = (line: string): string => displayText(line.replace(/\r$/, ''), MAX_LINE_CHARS).replaceAll('\n', ' ');

/** Both lists by their longest common part; what is in both is not shown. */
function compared(gone: readonly string[], come: readonly string[]): readonly string[] {
  const width = come.length + 1;
  const common = new Uint32Array((gone.length + 1) * width);
  for (let row = gone.length - 1; row >= 0; row--) {
    for (let column = come.length - 1; column >= 0; column--) {
      const at = row * width + column;
      const longest = Math.max(common[at + width] ?? 0, common[at + 1] ?? 0);
      common[at] = gone[row] === come[column] ? (common[at + width + 1] ?? 0) + 1 : longest;
    }
  }
  const lines: string[] = [];
  let [row, column] = [0, 0];
  while (row < gone.length || column < come.length) {
    const at = row * width + column;
    if (row < gone.length && column < come.length && gone[row] === come[column]) {
      row++;
      column++;
    } else if (column >= come.length || (row < gone.length && (common[at + width] ?? 0) >= (common[at + 1] ?? 0))) {
      lines.push(minus(gone[row++] ?? ''));
    } else lines.push(plus(come[column++] ?? ''));
  }
  return lines;
}
