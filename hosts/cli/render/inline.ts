import type { Token, Tokens } from 'marked';
import type { Span } from './cells.ts';
import { sanitise } from './sanitise.ts';
import { addSgr, SGR } from './style.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  mdash: '—',
  ndash: '–',
  hellip: '…',
};

/** Nesting beyond this is shown as source. */
const MAX_DEPTH = 16;

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** The last step of every leaf: an entity may hold what the raw text did not. */
function leaf(text: string, sgr: string): Span {
  return { text: sanitise(decodeEntities(text)), sgr };
}

function linkSpans(token: Tokens.Link, sgr: string, color: boolean, depth: number): Span[] {
  const shown = inlineSpans(token.tokens, addSgr(sgr, SGR.underline), color, depth + 1);
  const text = shown.map((span) => span.text).join('');
  const url = sanitise(decodeEntities(token.href)).replace(/\s/g, '%20');
  return text === url || `mailto:${text}` === url ? shown : [...shown, { text: ` (${url})`, sgr: addSgr(sgr, SGR.dim) }];
}

function tokenSpans(token: Token, sgr: string, color: boolean, depth: number): Span[] {
  const nested = (extra: string): Span[] =>
    inlineSpans(token.type === 'text' || 'tokens' in token ? (token.tokens ?? []) : [], addSgr(sgr, extra), color, depth + 1);
  switch (token.type) {
    case 'strong':
      return nested(SGR.bold);
    case 'em':
      return nested(SGR.italic);
    case 'del':
      return color ? nested(SGR.strike) : [{ text: '~~', sgr }, ...nested(''), { text: '~~', sgr }];
    case 'codespan':
      // Marked does not decode entities in code, and neither may we.
      return [{ text: sanitise(color ? token.text : `\`${token.text}\``), sgr: addSgr(sgr, SGR.code) }];
    case 'br':
      return [{ text: '\n', sgr }];
    case 'link':
      return linkSpans(token as Tokens.Link, sgr, color, depth);
    case 'image':
      return [leaf(`[image: ${token.text || 'untitled'}]`, sgr), { text: ` (${sanitise(String(token.href))})`, sgr: addSgr(sgr, SGR.dim) }];
    case 'checkbox':
      return [{ text: token.checked ? '☑ ' : '☐ ', sgr }];
    case 'text':
      return token.tokens === undefined ? [leaf(token.text, sgr)] : nested('');
    case 'html':
      return [{ text: sanitise(/^<br\s*\/?>$/i.test(token.raw) ? '\n' : token.raw), sgr }];
    default:
      return [leaf('text' in token ? String(token.text) : token.raw, sgr)];
  }
}

/** Inline markup as spans: emphasis, code, links as `text (url)`. Without colour, code keeps its backticks. */
export function inlineSpans(tokens: readonly Token[], sgr: string, color: boolean, depth = 0): Span[] {
  if (depth > MAX_DEPTH) return tokens.map((token) => ({ text: sanitise(token.raw), sgr }));
  return tokens.flatMap((token) => tokenSpans(token, sgr, color, depth));
}
