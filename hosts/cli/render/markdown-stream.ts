import type { Token } from 'marked';
import { type BlockSplitter, createBlockSplitter, type Piece } from './block-splitter.ts';
import { blockLines } from './markdown.ts';
import { sanitise } from './sanitise.ts';
import { type MarkdownTarget, SGR } from './style.ts';

/** Throws on markup that it cannot take, which is then shown as source. */
export type Lexer = (markdown: string) => Token[];

/** Loads the markdown parser when text is first shown, not when odek starts. */
export async function loadLexer(): Promise<Lexer> {
  const { lexer } = await import('marked');
  return (markdown) => lexer(markdown);
}

/** Stands in for a parser that could not be loaded: everything is shown as source. */
export function sourceOnly(): never {
  throw new Error('there is no markdown parser');
}

/** One message's markdown on its way to the screen. */
export interface MarkdownStream {
  /** Finished lines, to be written once and never again. */
  push(text: string): string[];
  end(): string[];
  /** The unfinished rest, sanitised, as source. */
  tail(): string;
}

/** Markup that the parser cannot take (too deeply nested) is shown as source: an answer is never lost to its form. */
function lexed(lexer: Lexer, text: string, target: MarkdownTarget): string[] {
  try {
    return blockLines(lexer(text), target);
  } catch {
    return sanitise(text).split('\n');
  }
}

interface DrawState {
  started: boolean;
  number: number | undefined;
}

function itemLines(piece: Extract<Piece, { kind: 'item' }>, state: DrawState, lexer: Lexer, target: MarkdownTarget): string[] {
  const numbered = /^\s*(\d{1,9})[.)]/.exec(piece.text);
  if (numbered === null) {
    state.number = undefined;
    return lexed(lexer, piece.text, target);
  }
  const own = Number(numbered[1]);
  const next = piece.follows && state.number !== undefined ? state.number + 1 : own;
  state.number = next;
  return lexed(lexer, piece.text.replace(/\d{1,9}/, String(next)), target);
}

function pieceLines(piece: Piece, state: DrawState, lexer: Lexer, target: MarkdownTarget): string[] {
  const { painter } = target;
  if (piece.kind === 'code') return [painter.paint(SGR.code, piece.text)];
  if (piece.kind === 'fence_close') return [painter.paint(SGR.dim, piece.text)];
  const gap = state.started && !(piece.kind === 'item' && piece.follows && !piece.spaced) ? [''] : [];
  state.started = true;
  if (piece.kind === 'fence_open') return [...gap, painter.paint(SGR.dim, piece.text)];
  if (piece.kind === 'item') return [...gap, ...itemLines(piece, state, lexer, target)];
  return [...gap, ...lexed(lexer, piece.text, target)];
}

/** `target` is asked at each block, so that a resize counts from the next block on. */
export function createMarkdownStream(lexer: Lexer, target: () => MarkdownTarget): MarkdownStream {
  const splitter: BlockSplitter = createBlockSplitter();
  const state: DrawState = { started: false, number: undefined };
  const draw = (pieces: readonly Piece[]): string[] => pieces.flatMap((piece) => pieceLines(piece, state, lexer, target()));
  let heldReturn = '';
  return {
    push(text) {
      // A CR at the end may be half of a CRLF.
      const whole = heldReturn + text;
      heldReturn = whole.endsWith('\r') ? '\r' : '';
      return draw(splitter.push(sanitise(heldReturn === '' ? whole : whole.slice(0, -1))));
    },
    end() {
      const rest = heldReturn === '' ? [] : draw(splitter.push(sanitise(heldReturn)));
      heldReturn = '';
      return [...rest, ...draw(splitter.end())];
    },
    tail: () => splitter.tail(),
  };
}
