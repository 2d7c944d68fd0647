import { createKnownValueSearch } from './known-values.ts';
import { type Needle, needlesOf } from './needles.ts';
import { isSecretName, isSecretValue, REDACTED, redactPrivateKeys, redactRuns, redactUrlPasswords } from './patterns.ts';

export { REDACTED } from './patterns.ts';

/**
 * No secret that the redactor knows or recognises spans more UTF-16 units than this. Whoever cuts
 * text before redacting it must cut off this much more on the side of the cut afterwards.
 */
export const REDACTION_REACH = 32 * 1024;

export interface Redactor {
  /** The text with every secret replaced by `[REDACTED]`; the very same string when there is none. Linear in its length. */
  text(text: string): string;
  /**
   * JSON text with every string, key and number redacted; the very same text when there is nothing
   * to hide, and JSON again otherwise. Text that is no JSON is redacted as text.
   */
  json(raw: string): string;
  /**
   * The last place up to `at` where `text`, which goes on, can be cut without cutting a known value that holds a space or
   * a character outside ASCII, be it whole or only begun.
   */
  cut(text: string, at: number): number;
  /** Hides these from now on too, such as tokens that were got meanwhile. The last 200 are kept. */
  learn(secrets: readonly string[]): void;
}

const MAX_LEARNED = 200;

/** The end of the string literal that starts at `start`, in text known to be JSON. */
function stringEnd(raw: string, start: number): number {
  for (let at = start + 1; at < raw.length; at += 1) {
    const code = raw.charCodeAt(at);
    if (code === 92) at += 1;
    else if (code === 34) return at + 1;
  }
  return raw.length;
}

const NUMBER = /-?\d[\d.eE+-]*/y;

function tokenEnd(raw: string, start: number): number {
  const code = raw.charCodeAt(start);
  if (code === 34) return stringEnd(raw, start);
  if (code !== 45 && (code < 48 || code > 57)) return start;
  NUMBER.lastIndex = start;
  return NUMBER.test(raw) ? NUMBER.lastIndex : start;
}

function isKeyAt(raw: string, end: number): boolean {
  for (let at = end; at < raw.length; at += 1) {
    const code = raw.charCodeAt(at);
    if (code !== 32 && code !== 9 && code !== 10 && code !== 13) return code === 58;
  }
  return false;
}

function isJson(raw: string): boolean {
  try {
    JSON.parse(raw);
    return true;
  } catch {
    return false;
  }
}

function decode(token: string): string {
  if (!token.startsWith('"')) return token;
  return token.includes('\\') ? (JSON.parse(token) as string) : token.slice(1, -1);
}

function redactJson(raw: string, text: (value: string) => string): string {
  if (!isJson(raw)) return text(raw);
  let out = '';
  let copied = 0;
  let name: string | undefined;
  for (let at = 0; at < raw.length; at += 1) {
    const end = tokenEnd(raw, at);
    if (end === at) continue;
    const value = decode(raw.slice(at, end));
    const hidden = name !== undefined && isSecretName(name) && isSecretValue(value) ? REDACTED : text(value);
    if (hidden !== value) {
      out += raw.slice(copied, at) + JSON.stringify(hidden);
      copied = end;
    }
    name = isKeyAt(raw, end) ? value : undefined;
    at = end - 1;
  }
  return copied === 0 ? raw : out + raw.slice(copied);
}

/** Where `needle`, or as much of it as `text` has, begins before `at` and ends behind it; `at` when it does nowhere. */
function startAround(text: string, at: number, needle: string): number {
  const [first = ''] = needle;
  let start = text.indexOf(first, Math.max(0, at - needle.length + 1));
  while (start !== -1 && start < at) {
    if (text.startsWith(needle, start) || needle.startsWith(text.slice(start))) return start;
    start = text.indexOf(first, start + 1);
  }
  return at;
}

/**
 * Hides secrets in two layers: the known values in every usual spelling (as is, JSON-escaped,
 * base64 at any alignment, hex, URL-encoded, reversed), and shapes of keys, tokens, passwords in
 * URLs and named values. Known values under 8 characters are ignored.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  let needles = needlesOf(secrets);
  let search = createKnownValueSearch(needles);
  let spaced = spacedOf(needles);
  let learned: readonly string[] = [];

  function hideKnown(text: string): string {
    const ranges = search(text);
    if (ranges.length === 0) return text;
    let out = '';
    let copied = 0;
    for (const [start, end] of ranges) {
      out += text.slice(copied, start) + REDACTED;
      copied = end;
    }
    return out + text.slice(copied);
  }

  function redactText(text: string): string {
    if (text.length < 8) return text;
    const known = needles.length === 0 ? text : hideKnown(text);
    return redactRuns(redactUrlPasswords(redactPrivateKeys(known)));
  }

  const cut = (text: string, at: number): number => {
    const earlier = spaced.reduce((least, needle) => Math.min(least, startAround(text, at, needle)), at);
    return earlier === at ? at : cut(text, earlier);
  };

  const learn = (more: readonly string[]): void => {
    const fresh = more.filter((each) => !learned.includes(each) && !secrets.includes(each));
    if (fresh.length === 0) return;
    learned = [...learned, ...fresh].slice(-MAX_LEARNED);
    needles = needlesOf([...secrets, ...learned]);
    search = createKnownValueSearch(needles);
    spaced = spacedOf(needles);
  };

  return { text: redactText, json: (raw) => redactJson(raw, redactText), cut, learn };
}

/** Those that a cut may go through. */
function spacedOf(needles: readonly Needle[]): readonly string[] {
  return needles.flatMap(({ text }) => (/[^\x21-\x7e]/.test(text) ? [text] : []));
}
