import { OdekError } from '../../ports/errors.ts';
import type { JsonSchema } from '../../ports/message.ts';
import type { SchemaCheck, SchemaIssue, SchemaValidator } from '../../ports/schema.ts';

const MAX_ISSUES = 20;
const MAX_DEPTH = 200;
const TYPES = ['null', 'boolean', 'object', 'array', 'number', 'integer', 'string'];

type Node = { readonly [key: string]: unknown };

function isObject(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(reason: string): never {
  throw new OdekError('invalid_schema', `the schema cannot be used: ${reason}`, { value: reason });
}

function hasType(value: unknown, type: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isObject(value);
  return typeof value === type;
}

function children(node: Node): readonly unknown[] {
  const lists = [node.prefixItems, node.anyOf].filter(Array.isArray);
  const maps = [node.properties, node.$defs].filter(isObject).map((map) => Object.values(map));
  return [...lists, ...maps, Array.isArray(node.items) ? node.items : [node.items]].flat();
}

function checkSchema(node: unknown): void {
  if (!isObject(node)) return;
  for (const type of [node.type ?? []].flat()) if (!TYPES.includes(String(type))) invalid(`unknown type ${JSON.stringify(type)}`);
  if (typeof node.$ref === 'string' && !node.$ref.startsWith('#')) invalid(`remote reference ${node.$ref}`);
  for (const child of children(node)) checkSchema(child);
}

function resolve(root: Node, ref: string): unknown {
  let node: unknown = root;
  for (const part of ref.split('/').slice(1)) node = isObject(node) ? node[part] : undefined;
  return node;
}

/** A small interpreter of the keywords that odek's own tools use. For tests that need no ajv. */
export function createSmallValidator(): SchemaValidator {
  const known = new WeakMap<JsonSchema, Promise<SchemaCheck>>();

  function checkOf(root: JsonSchema): SchemaCheck {
    const older = /\/draft-0[3-7]\//.test(String(root.$schema ?? ''));

    function* walk(node: unknown, value: unknown, path: string, depth: number): Generator<SchemaIssue> {
      if (!isObject(node)) return;
      if (depth > MAX_DEPTH) {
        yield { path, message: 'is nested too deeply' };
        return;
      }
      if (typeof node.$ref === 'string') yield* walk(resolve(root, node.$ref), value, path, depth + 1);
      if (node.type !== undefined && ![node.type].flat().some((type) => hasType(value, type))) {
        yield { path, message: `must be ${[node.type].flat().join(' or ')}` };
      }
      if (Array.isArray(node.enum) && !node.enum.includes(value)) yield { path, message: `must be one of ${node.enum.join(', ')}` };
      if (typeof value === 'number' && typeof node.minimum === 'number' && value < node.minimum)
        yield { path, message: `must be >= ${node.minimum}` };
      if (Array.isArray(value)) yield* items(node, value, path, depth);
      if (isObject(value)) yield* properties(node, value, path, depth);
    }

    function* items(node: Node, value: readonly unknown[], path: string, depth: number): Generator<SchemaIssue> {
      const tuple = older ? node.items : node.prefixItems;
      for (const [index, item] of value.entries()) {
        const schema = Array.isArray(tuple) ? tuple[index] : node.items;
        yield* walk(schema, item, `${path}/${index}`, depth + 1);
      }
    }

    function* properties(node: Node, value: Node, path: string, depth: number): Generator<SchemaIssue> {
      const own = isObject(node.properties) ? node.properties : {};
      for (const name of Array.isArray(node.required) ? node.required : []) {
        if (!Object.hasOwn(value, name)) yield { path, message: `missing property ${JSON.stringify(name)}; add it` };
      }
      for (const [name, item] of Object.entries(value)) {
        if (Object.hasOwn(own, name)) yield* walk(own[name], item, `${path}/${name}`, depth + 1);
        else if (node.additionalProperties === false) yield { path, message: `unknown property ${JSON.stringify(name)}; remove it` };
      }
    }

    return (value) => {
      const issues: SchemaIssue[] = [];
      for (const issue of walk(root, value, '', 0)) {
        if (issues.push(issue) === MAX_ISSUES) break;
      }
      return issues;
    };
  }

  async function compile(schema: JsonSchema): Promise<SchemaCheck> {
    checkSchema(schema);
    return checkOf(schema);
  }

  return {
    compile(schema) {
      const check = known.get(schema) ?? compile(schema);
      known.set(schema, check);
      return check;
    },
  };
}
