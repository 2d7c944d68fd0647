import type { ToolResult } from '../../ports/plugin.ts';

/** Characters of a result. The tools stay below it by bounding what they put in. */
export const MAX_RESULT_CHARS = 1_200_000;
/** Characters of JSON that a list of entries or lines may take. */
export const MAX_LISTED_CHARS = 1024 * 1024;
/** Bytes of a file, or of inline text, that a tool takes. */
export const MAX_INPUT_BYTES = 10 * 1024 * 1024;

/** A result that tells what went wrong and how to repair the call. */
export function failure(error: string, source?: string): ToolResult {
  return { content: JSON.stringify({ error }), failed: true, ...(source === undefined ? {} : { source }) };
}

export function success(value: unknown, source?: string): ToolResult {
  return { content: JSON.stringify(value), ...(source === undefined ? {} : { source }) };
}

/** A whole number between `min` and `max`; `fallback` when absent. */
export function bounded(value: number | undefined, fallback: number, min: number, max: number): number {
  return value === undefined ? fallback : Math.min(max, Math.max(min, Math.trunc(value)));
}
