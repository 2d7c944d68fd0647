/** Sizes and cuts of text in UTF-8 bytes, without encoding it. A lone surrogate counts as the three bytes of U+FFFD. */

function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLow(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** Bytes of the character that starts at `at`; a surrogate pair is four. */
function bytesAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return isHigh(code) && isLow(text.charCodeAt(at + 1)) ? 4 : 3;
}

/** UTF-8 bytes of `text`. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    const size = bytesAt(text, at);
    bytes += size - 1;
    if (size === 4) {
      at += 1;
      bytes -= 1;
    }
  }
  return bytes;
}

/** The longest beginning of `text` that takes at most `maxBytes`, ending between characters. */
export function utf8Head(text: string, maxBytes: number): string {
  let bytes = 0;
  let at = 0;
  while (at < text.length) {
    const size = bytesAt(text, at);
    if (bytes + size > maxBytes) break;
    bytes += size;
    at += size === 4 ? 2 : 1;
  }
  return text.slice(0, at);
}

/** The longest end of `text` that takes at most `maxBytes`, starting between characters. */
export function utf8Tail(text: string, maxBytes: number): string {
  let bytes = 0;
  let at = text.length;
  while (at > 0) {
    const pair = isLow(text.charCodeAt(at - 1)) && isHigh(text.charCodeAt(at - 2));
    const start = pair ? at - 2 : at - 1;
    const size = bytesAt(text, start);
    if (bytes + size > maxBytes) break;
    bytes += size;
    at = start;
  }
  return text.slice(at);
}

/** The first `max` UTF-16 units, or one fewer where a surrogate pair would be cut in half. */
export function headChars(text: string, max: number): string {
  if (text.length <= max) return text;
  return text.slice(0, max > 0 && isHigh(text.charCodeAt(max - 1)) && isLow(text.charCodeAt(max)) ? max - 1 : max);
}
