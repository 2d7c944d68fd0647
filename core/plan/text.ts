/** Text rules of the plan: one line a field, sizes in UTF-8 bytes or code points. */
import { neutralised } from '../untrusted/wrapper.ts';

/**
 * Flattens to one line: CRLF, LF, CR become a space, em dashes a hyphen; ends are trimmed. The name of
 * the untrusted wrapper is neutralised here already, so that a plan reads the same before and after it
 * was stored in one. Idempotent.
 */
export function normaliseText(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/\r\n|\n|\r/g, ' ')
    .replaceAll('—', '-');
  return neutralised(line).trim();
}

/** Bytes of `text` in UTF-8; a lone surrogate counts as the three bytes of its replacement. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const width = utf8Width(text, at);
    bytes += width;
    if (width === 4) at++;
  }
  return bytes;
}

/** The longest prefix of at most `maxBytes` UTF-8 bytes that ends on a character boundary. */
export function cutUtf8(text: string, maxBytes: number): string {
  let bytes = 0;
  for (let at = 0; at < text.length; at++) {
    const width = utf8Width(text, at);
    if (bytes + width > maxBytes) return text.slice(0, at);
    bytes += width;
    if (width === 4) at++;
  }
  return text;
}

function utf8Width(text: string, at: number): 1 | 2 | 3 | 4 {
  const unit = text.charCodeAt(at);
  if (unit < 0x80) return 1;
  if (unit < 0x800) return 2;
  const pair = unit >= 0xd800 && unit < 0xdc00 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
  return pair ? 4 : 3;
}

export function codePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++, count++) {
    if (utf8Width(text, at) === 4) at++;
  }
  return count;
}

/** At most `max` code points of `text`, and an ellipsis where something was cut. */
export function clampPoints(text: string, max: number): string {
  let at = 0;
  for (let count = 0; at < text.length; count++) {
    if (count === max) return `${text.slice(0, at)}…`;
    at += utf8Width(text, at) === 4 ? 2 : 1;
  }
  return text;
}

/** Longest value an error message repeats, in code points. */
const SHOWN_POINTS = 80;

/** A value as an error message shows it: quoted, escaped, bounded. */
export function quote(value: string): string {
  return JSON.stringify(clampPoints(value, SHOWN_POINTS));
}

/** Quoted with every character outside printable ASCII escaped. */
export function quoteAscii(value: string): string {
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Order by code point, which is the order of the UTF-8 bytes. */
export function compareCodePoints(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at++) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Surrogates stand for code points above every other unit. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

/** True when the untrusted wrapper would change `text`, so that it could not be found again by it. */
export function namesWrapper(text: string): boolean {
  return neutralised(text) !== text;
}

/** True when `text` holds white space, a bracket or nothing: it cannot be a step or check id. */
export function breaksToken(text: string): boolean {
  return text === '' || /[\s\u0085[\]]/u.test(text);
}
