/** One spelling of a known secret, to be found literally. */
export interface Needle {
  readonly text: string;
  /** Base64 digits around the match that carry bits of the secret too. */
  readonly before: 0 | 1;
  readonly after: 0 | 1;
}

/** Shorter values are not secrets anybody could tell from ordinary text. */
export const MIN_SECRET_LENGTH = 8;
/** Of a longer secret, its beginning and its lines are looked for; this keeps {@link REDACTION_REACH} finite. */
const MAX_SECRET_LENGTH = 8192;
/** A line of a multi-line secret that is worth hiding by itself. */
const MIN_LINE_LENGTH = 16;

const encoder = new TextEncoder();

function plain(text: string): Needle {
  return { text, before: 0, after: 0 };
}

function base64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/**
 * The digits that every base64 text holding the secret at byte offset `shift` (mod 3) must contain.
 * The digits at either edge depend on the neighbours: they are left out here and swallowed at the match.
 */
function base64At(bytes: Uint8Array, shift: 0 | 1 | 2): Needle {
  const padded = new Uint8Array(bytes.length + shift);
  padded.set(bytes, shift);
  const bits = padded.length * 8;
  const first = shift === 0 ? 0 : shift + 1;
  return { text: base64(padded).slice(first, Math.floor(bits / 6)), before: shift === 0 ? 0 : 1, after: bits % 6 === 0 ? 0 : 1 };
}

function urlAlphabet(needle: Needle): Needle {
  return { ...needle, text: needle.text.replaceAll('+', '-').replaceAll('/', '_') };
}

function hex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte.toString(16).padStart(2, '0');
  return text;
}

function urlEncoded(secret: string): readonly string[] {
  const encoded = encodeURIComponent(secret.toWellFormed());
  const lower = encoded.replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase());
  return [encoded, lower, encoded.replaceAll('%20', '+')];
}

function spellings(secret: string): readonly Needle[] {
  const bytes = encoder.encode(secret);
  const shifted = ([0, 1, 2] as const).map((shift) => base64At(bytes, shift));
  const texts = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    [...secret].reverse().join(''),
    hex(bytes),
    hex(bytes).toUpperCase(),
    ...urlEncoded(secret),
  ];
  return [...texts.map(plain), ...shifted, ...shifted.map(urlAlphabet)];
}

/** Every spelling of every secret, without repeats, longest first. Secrets under 8 characters are left out. */
export function needlesOf(secrets: readonly string[]): readonly Needle[] {
  const found = new Map<string, Needle>();
  for (const raw of secrets) {
    const secret = raw.trim().slice(0, MAX_SECRET_LENGTH);
    if (secret.length < MIN_SECRET_LENGTH) continue;
    const lines = secret.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_LENGTH && line !== secret);
    for (const needle of [...spellings(secret), ...lines.flatMap(spellings)]) {
      if (needle.text.length >= MIN_SECRET_LENGTH) found.set(needle.text, needle);
    }
  }
  return [...found.values()].sort((a, b) => b.text.length - a.text.length);
}
