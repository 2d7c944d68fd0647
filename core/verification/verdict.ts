/** What the judge of an answer said. */
export interface Verdict {
  readonly pass: boolean;
  /** What is wrong, and what is missing: at most 10 lines each of 300 characters. Written by a model. */
  readonly reasons: readonly string[];
  readonly missing: readonly string[];
}

const MAX_ITEMS = 10;
const MAX_ITEM_CHARS = 300;

function lines(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value
    .filter((item): item is string => typeof item === 'string' && item.trim() !== '')
    .slice(0, MAX_ITEMS)
    .map((item) => item.replace(/\s+/g, ' ').trim().slice(0, MAX_ITEM_CHARS));
}

function parseObject(reply: string): unknown {
  const start = reply.indexOf('{');
  const end = reply.lastIndexOf('}');
  if (start === -1 || end < start) return undefined;
  try {
    return JSON.parse(reply.slice(start, end + 1));
  } catch {
    return undefined;
  }
}

/**
 * Reads `{"verdict":"pass|fail","reasons":[],"missing":[]}`, also with text or a code fence around it.
 * `undefined` for anything else: an unreadable verdict is none.
 */
export function parseVerdict(reply: string): Verdict | undefined {
  const value = parseObject(reply);
  if (typeof value !== 'object' || value === null) return undefined;
  const { verdict, reasons, missing } = value as Readonly<Record<string, unknown>>;
  const word = typeof verdict === 'string' ? verdict.trim().toLowerCase() : '';
  if (word !== 'pass' && word !== 'fail') return undefined;
  return { pass: word === 'pass', reasons: lines(reasons), missing: lines(missing) };
}
