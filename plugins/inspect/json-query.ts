import type { FileSystem } from '../../ports/file-system.ts';
import { defineTool, type ToolSpec } from '../../ports/plugin.ts';
import { decodeText, readWhole } from './content.ts';
import { type JsonStep, parseJsonPath, writeJsonPath } from './json-path.ts';
import { failure, MAX_LISTED_CHARS, MAX_RESULT_CHARS, success } from './result.ts';

interface JsonQueryInput {
  readonly path: string;
  readonly query?: string;
}

const MAX_SHOWN_NAMES = 20;
const MAX_NAME_CHARS = 60;

/** `json_query`: one value of a JSON file. */
export function jsonQueryTool(fs: FileSystem): ToolSpec {
  return defineTool<JsonQueryInput>({
    name: 'json_query',
    description: 'One value of a JSON file of at most 10 MiB: {value,value_type}.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        query: { type: 'string', description: 'As in a.b[0]["c.d"]; [-1] is the last element. Default: the whole document' },
      },
      required: ['path'],
    },
    maxResultChars: MAX_RESULT_CHARS,
    effects: ({ path }) => ({ reads: [path] }),
    async execute({ path, query = '' }, { signal }) {
      const source = `json_query:${path}`;
      const steps = parseJsonPath(query);
      if (typeof steps === 'string') return failure(steps, source);
      const read = await readWhole(fs, path, signal);
      if ('fault' in read) return failure(read.fault, source);
      const document = parsed(decodeText(read.bytes), path);
      if ('fault' in document) return failure(document.fault, source);
      const found = follow(document.value, steps);
      if ('fault' in found) return failure(found.fault, source);
      const text = written(found.value);
      if (text === undefined) return failure(`the value is nested too deeply to be shown; ask for a part of it`, source);
      if (text.length > MAX_LISTED_CHARS)
        return failure(
          `the value takes ${text.length} characters, the limit is ${MAX_LISTED_CHARS}; ask for a part of it: ${whatIsThere(found.value)}`,
          source,
        );
      const note = isRounded(found.value) && { note: 'the number has more digits than can be kept exactly' };
      return success({ value: found.value, value_type: typeOf(found.value), ...note }, source);
    },
  });
}

type Outcome = { readonly value: unknown } | { readonly fault: string };

function parsed(text: string, path: string): Outcome {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { fault: `${path} is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

function follow(document: unknown, steps: readonly JsonStep[]): Outcome {
  let value = document;
  for (const [at, step] of steps.entries()) {
    const next = stepInto(value, step);
    if (next === undefined) {
      return {
        fault: `${writeJsonPath(steps.slice(0, at + 1))} does not exist; ${writeJsonPath(steps.slice(0, at))} is ${whatIsThere(value)}`,
      };
    }
    value = next.value;
  }
  return { value };
}

function stepInto(value: unknown, step: JsonStep): { readonly value: unknown } | undefined {
  if (Array.isArray(value)) {
    const index = typeof step === 'number' ? step : /^\d{1,15}$/.test(step) ? Number(step) : Number.NaN;
    const at = index < 0 ? value.length + index : index;
    return at >= 0 && at < value.length ? { value: value[at] } : undefined;
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
  return { value: (value as Readonly<Record<string, unknown>>)[step] };
}

function whatIsThere(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length} elements`;
  if (typeof value !== 'object' || value === null) return `a ${typeOf(value)}`;
  const names = Object.keys(value);
  const shown = names.slice(0, MAX_SHOWN_NAMES).map((name) => JSON.stringify(name.slice(0, MAX_NAME_CHARS)));
  return `an object with ${names.length === 0 ? 'no members' : `the members ${shown.join(', ')}${names.length > shown.length ? ', …' : ''}`}`;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Undefined for a value that is nested more deeply than can be written. */
function written(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function isRounded(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
}
