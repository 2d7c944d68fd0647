/** Code units shown of a text before its middle is left out. */
export const DISPLAY_LIMIT = 4000;
const TAIL_SHARE = 4;
const INDENT = '    ';

/** Control, format (bidi marks, tags), surrogate and ignorable characters, line and paragraph separators. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Text of a model, made safe to show: hidden characters become visible escapes (`\x1b`, `\u202e`),
 * further lines are indented, and a text over `limit` code units keeps its head and its tail around
 * `…[N more bytes]`.
 */
export function displayText(text: string, limit: number = DISPLAY_LIMIT): string {
  if (text.length <= limit) return escapeHidden(text);
  const tailLength = Math.floor(limit / TAIL_SHARE);
  const headEnd = notInsidePair(text, limit - tailLength);
  const tailStart = notInsidePair(text, text.length - tailLength);
  const left = new TextEncoder().encode(text.slice(headEnd, tailStart)).length;
  return `${escapeHidden(text.slice(0, headEnd))}…[${left} more bytes]${escapeHidden(text.slice(tailStart))}`;
}

function escapeHidden(text: string): string {
  return text.replace(HIDDEN, escapeOne);
}

function escapeOne(character: string): string {
  if (character === '\n') return `\n${INDENT}`;
  if (character === '\t') return '\\t';
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code <= 0xff) return `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
}

/** Moves a cut that would split a surrogate pair to its start. */
function notInsidePair(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
