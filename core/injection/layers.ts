/** A part of a text that was written in another encoding. */
export interface DecodedPart {
  readonly encoding: 'base64' | 'hex';
  readonly text: string;
}

const MAX_PARTS = 256;
const MAX_DECODED_CHARS = 262_144;
/** Shorter runs decode to nothing that could say anything. */
const BASE64 = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{24,}(?:[\r\n]{1,2}[A-Za-z0-9+/_-]{16,}){0,4096}={0,2}/g;
const HEX = /(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}){12,}(?![0-9A-Za-z])/g;
const ESCAPES = /(?:\\x[0-9a-fA-F]{2}){8,}/g;
const READABLE = /[^\t\n\r\x20-\x7e\u00a0-\ud7ff\ue000-\ufffc\u{10000}-\u{10ffff}]/gu;
const MAX_UNREADABLE_SHARE = 0.05;

const decoder = new TextDecoder('utf-8', { fatal: false });

/** The text of bytes; undefined when they are not text. */
function asText(bytes: Uint8Array): string | undefined {
  const text = decoder.decode(bytes);
  const unreadable = text.match(READABLE)?.length ?? 0;
  return text.length > 0 && unreadable / text.length <= MAX_UNREADABLE_SHARE ? text : undefined;
}

function fromBase64(run: string): string | undefined {
  const digits = run
    .replaceAll(/[\r\n=]/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  const whole = digits.length % 4 === 1 ? digits.slice(0, -1) : digits;
  return asText(Uint8Array.from(atob(whole), (char) => char.charCodeAt(0)));
}

function fromHex(run: string): string | undefined {
  const digits = run.replaceAll('\\x', '');
  const bytes = new Uint8Array(digits.length >> 1);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = Number.parseInt(digits.slice(at * 2, at * 2 + 2), 16);
  return asText(bytes);
}

const LAYERS = [
  ['hex', HEX, fromHex],
  ['hex', ESCAPES, fromHex],
  ['base64', BASE64, fromBase64],
] as const;

/** The parts of `text` that are readable text in base64 or hex, one layer deep; at most 256 of them and 262,144 characters. */
export function decodedParts(text: string): readonly DecodedPart[] {
  const parts: DecodedPart[] = [];
  let left = MAX_DECODED_CHARS;
  for (const [encoding, pattern, decode] of LAYERS) {
    for (const [run] of text.matchAll(pattern)) {
      if (parts.length >= MAX_PARTS || left <= 0) return parts;
      const decoded = decode(run)?.slice(0, left);
      if (decoded === undefined) continue;
      left -= decoded.length;
      parts.push({ encoding, text: decoded });
    }
  }
  return parts;
}
