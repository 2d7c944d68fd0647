import { scanInjection } from '../injection/scan.ts';

/** UTF-8 bytes of a schema as JSON. */
export const MAX_SCHEMA_BYTES = 256 * 1024;

const URI = /^https?:\/\/json-schema\.org\/(?:draft\/(?:2019-09|2020-12)|draft-0[3-7])\/(?:hyper-)?schema#?$/;

/** Whether the dialect that a schema names is one that can be checked here; without a name it is 2020-12. */
export function isKnownDialect(dialect: unknown): boolean {
  return dialect === undefined || (typeof dialect === 'string' && URI.test(dialect));
}

/** Every key and every text of a JSON value. */
function* textsOf(value: unknown): Iterable<string> {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string') yield next;
    if (typeof next !== 'object' || next === null) continue;
    if (!Array.isArray(next)) yield* Object.keys(next);
    for (const inner of Object.values(next)) open.push(inner);
  }
}

/** The first text of a schema, key or value, that reads like an order to the model. */
export function injectedText(schema: unknown): { readonly rule: string; readonly excerpt: string } | undefined {
  for (const text of new Set(textsOf(schema))) {
    const [hit] = scanInjection(text);
    if (hit !== undefined) return hit;
  }
  return undefined;
}
