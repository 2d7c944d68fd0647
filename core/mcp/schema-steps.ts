import type { JsonSchema } from '../../ports/message.ts';
import { asNode, lookUp, type Node } from './reference.ts';

/** Subschemas that one value may be checked against. */
export const MAX_STEPS = 100_000;

const LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const SINGLE = ['not', 'if', 'then', 'else'] as const;
const BY_NAME = ['dependentSchemas', 'dependencies'] as const;
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'] as const;

/** Subschemas that look at the same value as the schema itself, not at a part of it. */
function besides(node: Node, root: Node): readonly Node[] {
  const found: unknown[] = [
    ...LISTS.flatMap((key) => node[key]),
    ...SINGLE.map((key) => node[key]),
    ...BY_NAME.flatMap((key) => Object.values(asNode(node[key]) ?? {})),
  ];
  for (const key of REFERENCES) {
    const reference = node[key];
    if (typeof reference === 'string') found.push(lookUp(reference, root));
  }
  return found.map(asNode).filter((each) => each !== undefined);
}

/**
 * The most subschemas of a schema that one value is checked against, references followed; infinite
 * where a schema refers to itself for the same value. Linear in the schema.
 */
export function stepsOf(schema: JsonSchema): number {
  const known = new Map<Node, number>();

  const count = (node: Node): number => {
    const before = known.get(node);
    if (before !== undefined) return before;
    known.set(node, Number.POSITIVE_INFINITY);
    const steps = besides(node, schema).reduce((sum, each) => sum + count(each), 1);
    known.set(node, steps);
    return steps;
  };

  let most = 0;
  const open: unknown[] = [schema];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next !== 'object' || next === null) continue;
    if (!Array.isArray(next)) most = Math.max(most, count(next as Node));
    for (const inner of Object.values(next)) open.push(inner);
  }
  return most;
}
