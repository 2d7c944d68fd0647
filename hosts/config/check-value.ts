import { ConfigError } from '../../ports/errors.ts';
import type { KeySpec } from './key-spec.ts';
import type { ConfigValue } from './types.ts';

export interface ValueOrigin {
  /** The dotted key as it was written. */
  readonly key: string;
  /** Where it was written: a file, a variable, a flag. */
  readonly where: string;
  /** Whether text stands for a number, a switch or a comma-separated list: true for variables and flags. */
  readonly fromText: boolean;
  /** What to show of the value, when it is not the value itself. */
  readonly shown?: unknown;
}

const MAX_ENTRIES = 1000;
const TRUE = new Set(['true', '1', 'yes', 'on']);
const FALSE = new Set(['false', '0', 'no', 'off']);

/**
 * Checks one value against its key and returns it in its own type.
 * Throws `ConfigError` `invalid_value`, which names the key, the value, the limit and the place.
 */
export function checkValue(spec: KeySpec, raw: unknown, origin: ValueOrigin, warn: (text: string) => void): ConfigValue {
  const refuse = (limit: string): never => {
    throw invalid(spec, raw, origin, limit);
  };
  switch (spec.type) {
    case 'boolean':
      return asBoolean(raw, origin.fromText) ?? refuse('true or false');
    case 'integer':
    case 'number':
      return inRange(spec, asNumber(raw, origin.fromText), origin, warn) ?? refuse(rangeText(spec));
    case 'choice':
      return (
        asChoice(spec, raw, origin, warn) ?? refuse(`one of ${(spec.choices ?? []).map((choice) => JSON.stringify(choice)).join(', ')}`)
      );
    case 'list':
      return (
        asList(spec, raw, origin.fromText) ?? refuse(`a list of at most ${MAX_ENTRIES} entries, each ${spec.pattern?.says ?? 'a text'}`)
      );
    case 'url':
      return asUrl(raw) ?? refuse('an http or https address without query');
    case 'object':
      return isObject(raw) ? raw : refuse('an object');
    case 'string':
      return asString(spec, raw) ?? refuse(typeof raw === 'string' || spec.numbers === true ? (spec.pattern?.says ?? 'a text') : 'a text');
  }
}

export function invalid(spec: KeySpec, raw: unknown, origin: ValueOrigin, limit: string): ConfigError {
  const value = spec.secret === true ? '(hidden)' : (origin.shown ?? raw);
  return new ConfigError('invalid_value', `${origin.key} must be ${limit}, not ${short(value)} (${origin.where})`, { value, limit });
}

/** The range of a number in words, for messages and docs. */
export function rangeText(spec: Pick<KeySpec, 'type' | 'min' | 'max'>): string {
  const noun = spec.type === 'integer' ? 'a whole number' : 'a number';
  if (spec.min === undefined) return spec.max === undefined ? noun : `${noun} up to ${spec.max}`;
  return spec.max === undefined ? `${noun} from ${spec.min}` : `${noun} from ${spec.min} to ${spec.max}`;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value in a message: JSON of at most 80 characters. */
export function short(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}

function asBoolean(raw: unknown, fromText: boolean): boolean | undefined {
  if (typeof raw === 'boolean') return raw;
  if (!fromText || typeof raw !== 'string') return undefined;
  const text = raw.trim().toLowerCase();
  if (TRUE.has(text)) return true;
  return FALSE.has(text) ? false : undefined;
}

function asNumber(raw: unknown, fromText: boolean): number | undefined {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw : undefined;
  if (!fromText || typeof raw !== 'string' || !/^\s*-?\d+(\.\d+)?\s*$/.test(raw)) return undefined;
  return Number(raw);
}

function inRange(spec: KeySpec, value: number | undefined, origin: ValueOrigin, warn: (text: string) => void): number | undefined {
  if (value === undefined || (spec.type === 'integer' && !Number.isSafeInteger(value))) return undefined;
  const { min = value, max = value, clamps } = spec;
  if (value >= min && value <= max) return value;
  if (clamps === undefined || (clamps === 'least' && value > max)) return undefined;
  const [held, how] = value < min ? [min, 'under the least'] : [max, 'over the greatest'];
  warn(`${origin.key} ${value} is ${how} value; ${held} counts (${origin.where})`);
  return held;
}

function asChoice(spec: KeySpec, raw: unknown, origin: ValueOrigin, warn: (text: string) => void): string | undefined {
  const meant = typeof raw === 'string' ? (spec.aliases?.[raw] ?? raw) : undefined;
  if (meant !== undefined && spec.choices?.includes(meant)) return meant;
  if (spec.fallback !== undefined) warn(`${origin.key} ${short(raw)} is not known; "${spec.fallback}" counts (${origin.where})`);
  return spec.fallback;
}

function asString(spec: KeySpec, raw: unknown): string | undefined {
  const text = spec.numbers === true && typeof raw === 'number' ? String(raw) : raw;
  return typeof text === 'string' && (spec.pattern === undefined || spec.pattern.test.test(text)) ? text : undefined;
}

function asList(spec: KeySpec, raw: unknown, fromText: boolean): readonly string[] | undefined {
  const given = typeof raw === 'string' && fromText ? splitList(raw) : raw;
  const asText = (entry: unknown): unknown => (typeof entry === 'number' ? String(entry) : entry);
  const entries: unknown = spec.numbers === true && Array.isArray(given) ? given.map(asText) : given;
  if (!Array.isArray(entries) || entries.length > MAX_ENTRIES) return undefined;
  const fits = (entry: unknown): boolean => typeof entry === 'string' && (spec.pattern === undefined || spec.pattern.test.test(entry));
  return entries.every(fits) ? entries : undefined;
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function asUrl(raw: unknown): string | undefined {
  if (typeof raw !== 'string' || !URL.canParse(raw)) return undefined;
  const url = new URL(raw);
  if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.search !== '' || url.hash !== '') return undefined;
  return raw.replace(/\/+$/, '');
}
