const CONTEXT_LINES = 3;
/** Characters of a diff that a model is shown. */
const MAX_DIFF_CHARS = 64 * 1024;

/** A stretch of the old text, whole lines, with the replacements that fall into it. */
interface Block {
  /** Offsets into the old text. */
  start: number;
  end: number;
  readonly positions: number[];
}

/**
 * The text with `old` replaced by `replacement` at each of `positions` (ascending, not overlapping),
 * and a unified diff of it, cut at 64 KiB.
 */
export function replacementDiff(
  text: string,
  old: string,
  replacement: string,
  positions: readonly number[],
): { readonly result: string; readonly diff: string } {
  const hunks: string[] = [];
  let length = 0;
  let oldLine = 1;
  let shift = 0;
  let counted = 0;
  for (const block of blocksOf(text, old.length, positions)) {
    oldLine += countLineEnds(text, counted, block.start);
    counted = block.start;
    const before = text.slice(block.start, block.end);
    const after = replaceIn(before, old.length, replacement, block);
    const oldLines = splitLines(before);
    const newLines = splitLines(after);
    if (length <= MAX_DIFF_CHARS) hunks.push(hunkOf(oldLines, newLines, oldLine, oldLine + shift));
    length += before.length + after.length;
    shift += newLines.length - oldLines.length;
  }
  const diff = hunks.join('\n');
  return {
    result: replaceIn(text, old.length, replacement, { start: 0, positions }),
    diff: diff.length > MAX_DIFF_CHARS || length > MAX_DIFF_CHARS ? `${diff.slice(0, MAX_DIFF_CHARS)}\n… (diff cut)` : diff,
  };
}

function blocksOf(text: string, oldLength: number, positions: readonly number[]): readonly Block[] {
  const blocks: Block[] = [];
  for (const position of positions) {
    const start = contextStart(text, position);
    const end = contextEnd(text, position + oldLength);
    const last = blocks.at(-1);
    if (last && start <= last.end) {
      last.end = end;
      last.positions.push(position);
    } else {
      blocks.push({ start, end, positions: [position] });
    }
  }
  return blocks;
}

function contextStart(text: string, position: number): number {
  let start = position;
  for (let lines = 0; lines <= CONTEXT_LINES && start > 0; lines += 1) start = text.lastIndexOf('\n', start - 1 - (lines > 0 ? 1 : 0)) + 1;
  return start;
}

function contextEnd(text: string, position: number): number {
  let end = position;
  for (let lines = 0; lines <= CONTEXT_LINES && end < text.length; lines += 1) {
    const next = text.indexOf('\n', end);
    end = next < 0 ? text.length : next + 1;
  }
  return end;
}

function replaceIn(
  piece: string,
  oldLength: number,
  replacement: string,
  { start, positions }: { readonly start: number; readonly positions: readonly number[] },
): string {
  const parts: string[] = [];
  let from = 0;
  for (const position of positions) {
    parts.push(piece.slice(from, position - start), replacement);
    from = position - start + oldLength;
  }
  parts.push(piece.slice(from));
  return parts.join('');
}

function hunkOf(before: readonly string[], after: readonly string[], oldLine: number, newLine: number): string {
  let same = 0;
  while (same < before.length && same < after.length && before[same] === after[same]) same += 1;
  let tail = 0;
  while (tail < before.length - same && tail < after.length - same && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const skipped = Math.max(0, same - CONTEXT_LINES);
  const kept = Math.min(tail, CONTEXT_LINES);
  const oldCount = before.length - skipped - tail + kept;
  const newCount = after.length - skipped - tail + kept;
  return [
    `@@ -${oldLine + skipped},${oldCount} +${newLine + skipped},${newCount} @@`,
    ...before.slice(skipped, same).map((line) => ` ${line}`),
    ...before.slice(same, before.length - tail).map((line) => `-${line}`),
    ...after.slice(same, after.length - tail).map((line) => `+${line}`),
    ...before.slice(before.length - tail, before.length - tail + kept).map((line) => ` ${line}`),
  ].join('\n');
}

function splitLines(text: string): readonly string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

function countLineEnds(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
