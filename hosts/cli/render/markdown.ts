import type { Token, Tokens } from 'marked';
import { cellWidth, type Span, wrapSpans } from './cells.ts';
import { inlineSpans } from './inline.ts';
import { sanitise } from './sanitise.ts';
import { type MarkdownTarget, SGR } from './style.ts';
import { tableLines } from './table.ts';

/** Nested lists and quotes beyond this are shown as source. */
const MAX_DEPTH = 12;
const MIN_WIDTH = 12;
const RULE_CELLS = 40;
const BULLETS = ['•', '◦', '▪'] as const;

function wrapped(tokens: readonly Token[], sgr: string, target: MarkdownTarget): string[] {
  return wrapSpans(inlineSpans(tokens, sgr, target.painter.color), target.width).map(target.painter.line);
}

function sourceLines(text: string, target: MarkdownTarget, sgr: string = SGR.plain): string[] {
  return wrapSpans([{ text: sanitise(text.replace(/\n+$/, '')), sgr }], target.width).map(target.painter.line);
}

function headingLines(token: Tokens.Heading, target: MarkdownTarget): string[] {
  const sgr = token.depth === 1 ? `${SGR.bold};${SGR.underline}` : SGR.bold;
  const mark: Span[] = target.painter.color ? [] : [{ text: `${'#'.repeat(token.depth)} `, sgr: SGR.plain }];
  return wrapSpans([...mark, ...inlineSpans(token.tokens, sgr, target.painter.color)], target.width).map(target.painter.line);
}

/** Code is not wrapped: what is copied from the screen must be the code. */
function codeLines(token: Tokens.Code, { painter }: MarkdownTarget): string[] {
  const body = sanitise(token.text)
    .split('\n')
    .map((line) => painter.paint(SGR.code, line));
  return [painter.paint(SGR.dim, `\`\`\`${sanitise(token.lang ?? '')}`), ...body, painter.paint(SGR.dim, '```')];
}

function indented(lines: readonly string[], first: string, rest: string): string[] {
  return lines.map((line, index) => (index === 0 ? first + line : line === '' ? '' : rest + line));
}

function narrowed(target: MarkdownTarget, cells: number): MarkdownTarget {
  return { ...target, width: Math.max(MIN_WIDTH, target.width - cells) };
}

function itemLines(item: Tokens.ListItem, marker: string, target: MarkdownTarget, depth: number): string[] {
  const inner = narrowed(target, cellWidth(marker));
  const body = blockLines(item.tokens, inner, depth + 1, item.loose);
  return indented(body.length === 0 ? [''] : body, marker, ' '.repeat(cellWidth(marker)));
}

function listLines(token: Tokens.List, target: MarkdownTarget, depth: number): string[] {
  const start = typeof token.start === 'number' ? token.start : 1;
  const bullet = BULLETS[Math.min(depth, BULLETS.length - 1)] ?? BULLETS[0];
  return token.items.flatMap((item, index) => {
    const marker = token.ordered ? `${start + index}. ` : `${bullet} `;
    const lines = itemLines(item, marker, target, depth);
    return token.loose && index > 0 ? ['', ...lines] : lines;
  });
}

function quoteLines(token: Tokens.Blockquote, target: MarkdownTarget, depth: number): string[] {
  const bar = target.painter.paint(SGR.dim, '│ ');
  return blockLines(token.tokens, narrowed(target, 2), depth + 1, true).map((line) => bar + line);
}

function oneBlock(token: Token, target: MarkdownTarget, depth: number): string[] {
  switch (token.type) {
    case 'heading':
      return headingLines(token as Tokens.Heading, target);
    case 'paragraph':
      return wrapped(token.tokens ?? [], SGR.plain, target);
    case 'text':
      return wrapped(token.tokens ?? [token], SGR.plain, target);
    case 'checkbox':
      return wrapped([token], SGR.plain, target);
    case 'code':
      return codeLines(token as Tokens.Code, target);
    case 'list':
      return listLines(token as Tokens.List, target, depth);
    case 'blockquote':
      return quoteLines(token as Tokens.Blockquote, target, depth);
    case 'table':
      return tableLines(token as Tokens.Table, target);
    case 'hr':
      return [target.painter.paint(SGR.dim, '─'.repeat(Math.min(target.width, RULE_CELLS)))];
    case 'def':
      return sourceLines(token.raw, target, SGR.dim);
    default:
      return sourceLines(token.raw, target);
  }
}

/** A task's box and its first text are two tokens but one line. */
function joinCheckbox(tokens: readonly Token[]): Token[] {
  const [box, text, ...rest] = tokens;
  if (box?.type !== 'checkbox' || text === undefined || !('tokens' in text)) return [...tokens];
  return [{ ...text, tokens: [box, ...(text.tokens ?? [])] } as Token, ...rest];
}

/** Block tokens of `marked.lexer` as finished lines; blocks are set apart by one empty line where `spaced`. */
export function blockLines(tokens: readonly Token[], target: MarkdownTarget, depth = 0, spaced = true): string[] {
  if (depth > MAX_DEPTH) return tokens.flatMap((token) => sourceLines(token.raw, target));
  const lines: string[] = [];
  for (const token of joinCheckbox(tokens)) {
    if (token.type === 'space') continue;
    const block = oneBlock(token, target, depth);
    if (block.length === 0) continue;
    if (lines.length > 0 && spaced) lines.push('');
    lines.push(...block);
  }
  return lines;
}
