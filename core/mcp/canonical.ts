import { OdekError } from '../../ports/errors.ts';
import type { Hash } from '../../ports/hash.ts';

/** Deepest nesting of a schema that is looked at. */
export const MAX_SCHEMA_DEPTH = 100;

/**
 * One spelling for each JSON value: keys in the order of their UTF-16 units, no spaces. What JSON has
 * no word for is written as `JSON.stringify` does.
 *
 * @throws {OdekError} `mcp_definition_refused` for a value nested deeper than {@link MAX_SCHEMA_DEPTH}
 */
export function canonicalJson(value: unknown): string {
  return written(value, 0);
}

function written(value: unknown, depth: number): string {
  if (depth > MAX_SCHEMA_DEPTH) {
    throw new OdekError('mcp_definition_refused', `it is nested deeper than ${MAX_SCHEMA_DEPTH} levels`, { limit: MAX_SCHEMA_DEPTH });
  }
  if (Array.isArray(value)) return `[${value.map((entry) => written(entry, depth + 1)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${written(member, depth + 1)}`).join(',')}}`;
}

/**
 * The SHA-256 of a list of fields in a form that no other list has: each field is a JSON string, so
 * that lone surrogates stay apart, behind its length.
 */
export function framedHash(fields: readonly string[], hash: Hash): string {
  return hash.sha256(fields.map(framed).join(''));
}

/** Several fields as one, for {@link framedHash}. */
export function framedList(fields: readonly string[]): string {
  return `${fields.length};${fields.map(framed).join('')}`;
}

function framed(field: string): string {
  const json = JSON.stringify(field);
  return `${json.length}:${json}`;
}
