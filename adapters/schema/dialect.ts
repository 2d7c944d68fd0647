import type { JsonSchema } from '../../ports/message.ts';

export type Dialect = '2020-12' | 'draft-07';

/** The dialect by `$schema`: draft-07 for that and older ones, otherwise 2020-12. */
export function dialectOf(schema: JsonSchema): Dialect {
  return /\/draft-0[3-7]\//.test(String(schema.$schema ?? '')) ? 'draft-07' : '2020-12';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Draft-04 says `exclusiveMinimum: true` beside `minimum`; later drafts give the bound itself. */
function convertBound(
  node: Record<string, unknown>,
  bound: 'minimum' | 'maximum',
  exclusive: 'exclusiveMinimum' | 'exclusiveMaximum',
): void {
  if (typeof node[exclusive] !== 'boolean') return;
  if (node[exclusive] === true && typeof node[bound] === 'number') {
    node[exclusive] = node[bound];
    delete node[bound];
  } else {
    delete node[exclusive];
  }
}

/** A copy of a schema of draft-04 or older in the words of draft-07; any other schema as it is. */
export function modernised(schema: JsonSchema): JsonSchema {
  if (!/\/draft-0[34]\//.test(String(schema.$schema ?? ''))) return schema;
  const copy = structuredClone(schema);
  const open: unknown[] = [copy];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (isObject(node)) {
      convertBound(node, 'minimum', 'exclusiveMinimum');
      convertBound(node, 'maximum', 'exclusiveMaximum');
    }
    if (typeof node === 'object' && node !== null) open.push(...Object.values(node));
  }
  return copy;
}
