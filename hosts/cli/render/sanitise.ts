/**
 * Text of a model or a tool must not steer the terminal. Everything here maps single characters,
 * so it does not matter where a stream was cut.
 */

/** C0 without tab and newline, DEL, and C1 (a terminal may read U+009B as CSI). */
const CONTROL = /\r\n|(?![\t\n])\p{Cc}/gu;

/** Direction overrides and marks, invisible fillers, tag characters, unpaired surrogates, line and paragraph separator. */
const DECEPTIVE =
  /[\u061c\u115f\u1160\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Surrogate}/gu;

function visibleControl(character: string): string {
  if (character === '\r\n') return '\n';
  return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
}

function visibleDeceptive(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code === 0x2028 || code === 0x2029) return '\n';
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}

/** For a pipe or a file: control characters become visible (`\x1b`), CRLF becomes LF, all other text stays as it is. */
export function neutralise(text: string): string {
  return text.replace(CONTROL, visibleControl);
}

/**
 * For a screen: as {@link neutralise}, and direction overrides, invisible and unpaired characters
 * become visible (`\u202e`) too. Tabs and newlines stay, as do the joiners that scripts and emoji need.
 * Idempotent.
 */
export function sanitise(text: string): string {
  return neutralise(text).replace(DECEPTIVE, visibleDeceptive);
}

/** {@link sanitise} for text that must stay on one line: every run of white space becomes one space. */
export function sanitiseLine(text: string): string {
  return sanitise(text).replace(/\s+/g, ' ').trim();
}
