import type { McpToolDefinition } from '../../ports/mcp.ts';
import { displayText } from '../approvals/display.ts';

const MAX_LINES = 60;
const MAX_VALUE_CHARS = 240;
const MAX_PLACE_CHARS = 160;
/** Characters of what is the same that stand before a difference. */
const CONTEXT_CHARS = 40;
const MAX_DEPTH = 100;

/**
 * What is different between a definition that was approved and the one that is there now, as lines of a
 * diff (`- <place>: <value>` before, `+ <place>: <value>` now, in the order of the places): at most 61,
 * and safe to show. Empty when nothing is different; the order of keys does not count.
 */
export function definitionChanges(before: McpToolDefinition, after: McpToolDefinition): readonly string[] {
  const old = leavesOf(before);
  const now = leavesOf(after);
  const places = [...new Set([...old.keys(), ...now.keys()])].filter((place) => old.get(place) !== now.get(place)).sort();
  const lines = places.flatMap((place) => changeAt(place, old.get(place), now.get(place)));
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), `  … ${lines.length - MAX_LINES} more lines`];
}

function leavesOf({ name, description, inputSchema, outputSchema, annotations }: McpToolDefinition): ReadonlyMap<string, string> {
  const leaves = new Map<string, string>([
    ['name', JSON.stringify(name)],
    ['description', JSON.stringify(description)],
  ]);
  collect('input', inputSchema, leaves, 0);
  if (outputSchema !== undefined) collect('output', outputSchema, leaves, 0);
  if (annotations !== undefined) collect('annotations', annotations, leaves, 0);
  return leaves;
}

function collect(place: string, value: unknown, leaves: Map<string, string>, depth: number): void {
  const members = typeof value === 'object' && value !== null && depth < MAX_DEPTH ? Object.entries(value) : [];
  if (members.length === 0) leaves.set(place, JSON.stringify(value) ?? 'null');
  const step = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
  for (const [key, member] of members) collect(`${place}/${step(key)}`, member, leaves, depth + 1);
}

function changeAt(place: string, before: string | undefined, after: string | undefined): readonly string[] {
  const same = before === undefined || after === undefined ? 0 : sharedStart(before, after);
  const from = Math.max(0, same - CONTEXT_CHARS);
  const line = (mark: string, value: string | undefined): readonly string[] =>
    value === undefined ? [] : [`${mark} ${displayText(place, MAX_PLACE_CHARS)}: ${from > 0 ? '…' : ''}${shown(value.slice(from))}`];
  return [...line('-', before), ...line('+', after)];
}

function shown(value: string): string {
  return displayText(value.toWellFormed(), MAX_VALUE_CHARS);
}

function sharedStart(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}
