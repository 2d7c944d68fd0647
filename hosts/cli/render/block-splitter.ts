/**
 * Cuts a stream of markdown into pieces that can be drawn for good: a paragraph, a table, a list
 * item, a heading, one line of a fenced code block. What may still change stays in `tail`.
 */

export type Piece =
  | { readonly kind: 'markdown'; readonly text: string }
  /** One item. `follows`: it goes on with the list of the piece before. `spaced`: an empty line stood between. */
  | { readonly kind: 'item'; readonly text: string; readonly follows: boolean; readonly spaced: boolean }
  | { readonly kind: 'fence_open'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'fence_close'; readonly text: string };

export interface BlockSplitter {
  /** Takes the next part of the text and gives the pieces it completed. */
  push(text: string): Piece[];
  /** No more text: the rest, as pieces. */
  end(): Piece[];
  /** Text that no piece holds yet. */
  tail(): string;
}

/** A block longer than this is cut at a line's end, so that a stream without empty lines stays bounded. */
const MAX_BLOCK_CHARS = 32_768;

const BLANK = /^\s*$/;
const HEADING = /^ {0,3}#{1,6}(\s|$)/;
const FENCE = /^( {0,3})(`{3,}|~{3,})(.*)$/;
const ITEM = /^( {0,3})(?:([-+*])|(\d{1,9})([.)]))(?:\s+\S|\s*$)/;
/** `- - -` and `***` draw a line and start no list. */
const RULE = /^ {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})$/;

interface Fence {
  readonly mark: string;
  readonly length: number;
}

function openedFence(line: string): Fence | undefined {
  const match = FENCE.exec(line);
  const marks = match?.[2];
  if (marks === undefined || (marks.startsWith('`') && match?.[3]?.includes('`'))) return undefined;
  return { mark: marks.charAt(0), length: marks.length };
}

function closesFence(line: string, fence: Fence): boolean {
  const trimmed = line.trim();
  return trimmed.length >= fence.length && trimmed === fence.mark.repeat(trimmed.length) && /^ {0,3}\S/.test(line);
}

function listKind(line: string): string | undefined {
  const match = RULE.test(line) ? null : ITEM.exec(line);
  return match === null ? undefined : (match[2] ?? match[4]);
}

export function createBlockSplitter(): BlockSplitter {
  let partial: string[] = [];
  let block: string[] = [];
  let blockChars = 0;
  let fence: Fence | undefined;
  let kind: string | undefined;
  let innerFence: Fence | undefined;
  let sawBlank = false;
  let lastKind: string | undefined;
  let blankBefore = false;

  const flushBlock = (out: Piece[]): void => {
    if (block.length === 0) return;
    const text = block.join('\n').trimEnd();
    if (kind === undefined) out.push({ kind: 'markdown', text });
    else out.push({ kind: 'item', text, follows: lastKind === kind, spaced: blankBefore });
    lastKind = kind;
    blankBefore = sawBlank;
    block = [];
    blockChars = 0;
    kind = undefined;
    innerFence = undefined;
    sawBlank = false;
  };

  const addLine = (line: string, out: Piece[]): void => {
    block.push(line);
    blockChars += line.length + 1;
    if (blockChars > MAX_BLOCK_CHARS) flushBlock(out);
  };

  const startBlock = (line: string, out: Piece[]): void => {
    fence = openedFence(line);
    if (fence !== undefined) {
      lastKind = undefined;
      out.push({ kind: 'fence_open', text: line.trim() });
      return;
    }
    kind = listKind(line);
    addLine(line, out);
    if (HEADING.test(line)) flushBlock(out);
  };

  /** Whether `line` belongs to the list item that is being gathered. */
  const continuesItem = (line: string): boolean => {
    if (innerFence !== undefined) return true;
    if (/^(?: {2,}|\t)/.test(line)) return true;
    return !sawBlank && listKind(line) === undefined && openedFence(line) === undefined && !HEADING.test(line) && !RULE.test(line);
  };

  const itemLine = (line: string, out: Piece[]): void => {
    if (innerFence === undefined && BLANK.test(line)) {
      sawBlank = true;
      addLine(line, out);
    } else if (continuesItem(line)) {
      const inner = line.trimStart();
      if (innerFence === undefined) innerFence = openedFence(inner);
      else if (closesFence(inner, innerFence)) innerFence = undefined;
      sawBlank = false;
      addLine(line, out);
    } else {
      flushBlock(out);
      startBlock(line, out);
    }
  };

  const takeLine = (raw: string, out: Piece[]): void => {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    if (fence !== undefined) {
      const closing = closesFence(line, fence);
      out.push({ kind: closing ? 'fence_close' : 'code', text: closing ? line.trim() : line });
      if (closing) fence = undefined;
    } else if (block.length === 0) {
      if (!BLANK.test(line)) startBlock(line, out);
    } else if (kind !== undefined) {
      itemLine(line, out);
    } else if (BLANK.test(line)) {
      flushBlock(out);
    } else if (openedFence(line) !== undefined || HEADING.test(line)) {
      flushBlock(out);
      startBlock(line, out);
    } else {
      addLine(line, out);
    }
  };

  return {
    push(text) {
      const out: Piece[] = [];
      const lines = text.split('\n');
      for (const [index, line] of lines.entries()) {
        partial.push(line);
        if (index === lines.length - 1) break;
        const whole = partial.join('');
        partial = [];
        takeLine(whole, out);
      }
      return out;
    },
    end() {
      const out: Piece[] = [];
      const rest = partial.join('');
      partial = [];
      if (rest !== '') takeLine(rest, out);
      flushBlock(out);
      if (fence !== undefined) out.push({ kind: 'fence_close', text: fence.mark.repeat(fence.length) });
      fence = undefined;
      lastKind = undefined;
      return out;
    },
    tail() {
      if (partial.length > 1) partial = [partial.join('')];
      return [...block, partial[0] ?? ''].join('\n');
    },
  };
}
