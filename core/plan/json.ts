/**
 * JSON whose number literals stay as written, for exact comparison of tool arguments.
 * Reading is strict (RFC 8259), total and bounded in depth; a repeated key keeps its last value.
 */
import { compareCodePoints } from './text.ts';

/** A number as it was written; `1` and `1.0` differ. */
interface JsonNumber {
  readonly literal: string;
}
export type JsonObject = ReadonlyMap<string, JsonValue>;
export type JsonValue = null | boolean | string | JsonNumber | readonly JsonValue[] | JsonObject;

/** Deepest nesting that is read. */
export const MAX_JSON_DEPTH = 64;

export type JsonReading = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly problem: string };

class Malformed extends Error {}

/** Reads the whole text as one JSON value. Never throws. */
export function readJson(text: string): JsonReading {
  return attempt(() => {
    const reader = { text, at: 0 };
    const value = readValue(reader, 0);
    skipSpace(reader);
    if (reader.at < text.length) throw new Malformed(`unexpected text after the value at offset ${reader.at}`);
    return value;
  });
}

/** Takes over a value that was already parsed; its numbers are written as JavaScript writes them. Never throws. */
export function adoptJson(value: unknown): JsonReading {
  return attempt(() => adoptValue(value, 0));
}

function attempt(read: () => JsonValue): JsonReading {
  try {
    return { ok: true, value: read() };
  } catch (error) {
    if (error instanceof Malformed) return { ok: false, problem: error.message };
    throw error;
  }
}

function adoptValue(value: unknown, depth: number): JsonValue {
  if (depth > MAX_JSON_DEPTH) throw new Malformed(`nesting deeper than ${MAX_JSON_DEPTH}`);
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return { literal: JSON.stringify(value) };
  if (Array.isArray(value)) return value.map((entry) => adoptValue(entry, depth + 1));
  if (typeof value === 'object') {
    return new Map(Object.entries(value).map(([key, entry]) => [key, adoptValue(entry, depth + 1)]));
  }
  throw new Malformed(`a ${typeof value} is not JSON`);
}

interface Reader {
  readonly text: string;
  at: number;
}

function readValue(reader: Reader, depth: number): JsonValue {
  if (depth > MAX_JSON_DEPTH) throw new Malformed(`nesting deeper than ${MAX_JSON_DEPTH}`);
  skipSpace(reader);
  const lead = reader.text[reader.at];
  if (lead === '{') return readObject(reader, depth);
  if (lead === '[') return readArray(reader, depth);
  if (lead === '"') return readString(reader);
  for (const [word, value] of WORDS) {
    if (reader.text.startsWith(word, reader.at)) {
      reader.at += word.length;
      return value;
    }
  }
  return readNumber(reader);
}

const WORDS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;

function readObject(reader: Reader, depth: number): JsonObject {
  const object = new Map<string, JsonValue>();
  reader.at++;
  if (takesIf(reader, '}')) return object;
  do {
    skipSpace(reader);
    if (reader.text[reader.at] !== '"') throw unexpected(reader, 'a quoted key');
    const key = readString(reader);
    if (!takesIf(reader, ':')) throw unexpected(reader, "':'");
    object.set(key, readValue(reader, depth + 1));
  } while (takesIf(reader, ','));
  if (!takesIf(reader, '}')) throw unexpected(reader, "',' or '}'");
  return object;
}

function readArray(reader: Reader, depth: number): readonly JsonValue[] {
  const array: JsonValue[] = [];
  reader.at++;
  if (takesIf(reader, ']')) return array;
  do {
    array.push(readValue(reader, depth + 1));
  } while (takesIf(reader, ','));
  if (!takesIf(reader, ']')) throw unexpected(reader, "',' or ']'");
  return array;
}

function readString(reader: Reader): string {
  const start = reader.at;
  for (let at = start + 1; at < reader.text.length; at++) {
    const unit = reader.text[at];
    if (unit === '\\') at++;
    else if (unit === '"') {
      reader.at = at + 1;
      return decodeString(reader.text.slice(start, at + 1), start);
    }
  }
  throw new Malformed(`unterminated string at offset ${start}`);
}

function decodeString(literal: string, start: number): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    throw new Malformed(`malformed string at offset ${start}`);
  }
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

function readNumber(reader: Reader): JsonNumber {
  NUMBER.lastIndex = reader.at;
  const literal = NUMBER.exec(reader.text)?.[0];
  if (literal === undefined) throw unexpected(reader, 'a value');
  reader.at += literal.length;
  return { literal };
}

function takesIf(reader: Reader, mark: string): boolean {
  skipSpace(reader);
  if (reader.text[reader.at] !== mark) return false;
  reader.at++;
  return true;
}

function skipSpace(reader: Reader): void {
  while (' \t\n\r'.includes(reader.text[reader.at] ?? '·')) reader.at++;
}

function unexpected(reader: Reader, wanted: string): Malformed {
  const found = reader.text[reader.at];
  return new Malformed(`expected ${wanted} at offset ${reader.at}, found ${found === undefined ? 'the end' : JSON.stringify(found)}`);
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value instanceof Map;
}

export function isJsonArray(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** `a string`, `an array`, … for error messages. */
export function jsonKind(value: JsonValue | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'a boolean';
  if (typeof value === 'string') return 'a string';
  if (isJsonArray(value)) return 'an array';
  return isJsonObject(value) ? 'an object' : 'a number';
}

/** One spelling per value: keys in code point order, no spaces, number literals verbatim. */
export function canonicalJson(value: JsonValue): string {
  if (value === null || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return jsonString(value);
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return (value as JsonNumber).literal;
  const keys = [...value.keys()].sort(compareCodePoints);
  return `{${keys.map((key) => `${jsonString(key)}:${canonicalJson(value.get(key) ?? null)}`).join(',')}}`;
}

const ESCAPED: Readonly<Record<string, string>> = { '<': '\\u003c', '>': '\\u003e', '&': '\\u0026' };

/**
 * A JSON string with `<`, `>` and `&` escaped and other characters literal. The name of the
 * untrusted wrapper is written with an escape, so that the wrapper finds nothing to neutralise and
 * a check's arguments come back from a transcript unchanged.
 */
export function jsonString(text: string): string {
  return JSON.stringify(text)
    .replace(/[<>&]/g, (mark) => ESCAPED[mark] ?? mark)
    .replaceAll('untrusted_content', 'untrusted\\u005fcontent');
}
