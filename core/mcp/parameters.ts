import type { JsonSchema } from '../../ports/message.ts';
import { asNode, lookUp, type Node } from './reference.ts';

/**
 * A tool's schema as every model API takes it. What a strict one refuses (references, a root that is no
 * object, a value without a type) is said in other words or left out; the arguments are checked
 * against the server's own schema later, so that nothing here has to be exact.
 */

/** Deeper parts are only told their type. */
const MAX_DEPTH = 24;
/** Characters of a schema after which further references are only told their type. */
const MAX_EXPANDED_CHARS = 128 * 1024;
const MAX_HOPS = 8;
const NODE_CHARS = 16;

/** Keywords that keep their value. */
const KEPT = [
  'title',
  'description',
  'enum',
  'const',
  'default',
  'format',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minItems',
  'maxItems',
  'uniqueItems',
] as const;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
/** What may stand where a schema says nothing. */
const ANY_TYPE = ['string', 'number', 'boolean', 'object', 'array', 'null'] as const;

interface Walk {
  readonly root: Node;
  /** References that are being followed; one that comes again is recursive. */
  readonly open: ReadonlySet<string>;
  readonly depth: number;
  readonly budget: { left: number };
}

/** The schema for the model: an object at its root, without references. */
export function modelParameters(schema: JsonSchema): JsonSchema {
  const walk: Walk = { root: schema, open: new Set(), depth: 0, budget: { left: MAX_EXPANDED_CHARS } };
  const { node, walk: inside } = followed(schema, walk);
  const whole = unitedRoot(node, inside);
  return { ...kept(whole, ['title', 'description']), type: 'object', ...objectParts(whole, inside) };
}

/** Alternatives at the root become one object that has the properties of all and requires what all require. */
function unitedRoot(node: Node, walk: Walk): Node {
  const choices = [...asNodes(node.anyOf), ...asNodes(node.oneOf)].map((choice) => followed(choice, walk).node);
  const parts = [...choices, node];
  if (parts.length === 1) return node;
  const shared = choices.map((choice) => new Set(asList(choice.required)));
  const required = [...(shared[0] ?? [])].filter((name) => shared.every((names) => names.has(name)));
  return {
    ...node,
    properties: Object.fromEntries(parts.flatMap((part) => Object.entries(asNode(part.properties) ?? {}))),
    required: [...asList(node.required), ...required],
  };
}

function translate(raw: unknown, before: Walk): Node {
  if (raw === false) return { type: 'string', description: 'Leave this out.' };
  const { node, walk } = followed(asNode(raw) ?? {}, before);
  walk.budget.left -= NODE_CHARS + sizeOf(node);
  if (walk.depth > MAX_DEPTH) return { type: typesOf(node)[0] ?? 'string' };
  const inside = { ...walk, depth: walk.depth + 1 };
  const choices = [...asNodes(node.anyOf), ...asNodes(node.oneOf)];
  if (choices.length > 0) return withChoices(node, choices, inside);
  const types = typesOf(node);
  return {
    ...kept(node, KEPT),
    type: types.length === 1 ? types[0] : types,
    ...(types.includes('object') && objectParts(node, inside)),
    ...(types.includes('array') && { items: itemsOf(node, inside) }),
  };
}

/** What stands beside the alternatives holds for each of them. */
function withChoices(node: Node, choices: readonly Node[], walk: Walk): Node {
  const { anyOf, oneOf, title, description, default: preset, ...beside } = node;
  const about = kept({ title, description, default: preset }, ['title', 'description', 'default']);
  return { ...about, anyOf: choices.map((choice) => translate({ ...beside, ...choice }, walk)) };
}

function objectParts(node: Node, walk: Walk): Node {
  const properties = Object.entries(asNode(node.properties) ?? {}).map(([name, value]) => [name, translate(value, walk)] as const);
  const names = new Set<unknown>(properties.map(([name]) => name));
  const required = [...new Set(asList(node.required))].filter((name) => names.has(name));
  const { additionalProperties: others } = node;
  return {
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    ...(typeof others === 'boolean' && { additionalProperties: others }),
    ...(asNode(others) !== undefined && { additionalProperties: translate(others, walk) }),
  };
}

function itemsOf(node: Node, walk: Walk): Node {
  const { items, prefixItems } = node;
  const places = [...asNodes(prefixItems), ...asNodes(items)];
  if (places.length > 1) return { anyOf: places.map((place) => translate(place, walk)) };
  const [only = items] = places;
  // An array of anything is told as one of texts at the second level, where no end would come otherwise.
  if (asNode(only) === undefined || Object.keys(only as Node).length === 0) return { type: ANY_TYPE.filter((type) => type !== 'array') };
  return translate(only, walk);
}

/** The types a value may have: as said, else as its other keywords tell, else any. */
function typesOf(node: Node): readonly string[] {
  const said = [node.type].flat().filter((type) => TYPES.has(type)) as string[];
  if (said.length > 0) return [...new Set(said)];
  if (node.properties !== undefined || node.additionalProperties !== undefined) return ['object'];
  if (node.items !== undefined || node.prefixItems !== undefined) return ['array'];
  const values = node.const === undefined ? asList(node.enum) : [node.const];
  if (values.length > 0) return [...new Set(values.map(typeOf))];
  if (node.pattern !== undefined || node.format !== undefined || node.minLength !== undefined) return ['string'];
  if (node.minimum !== undefined || node.maximum !== undefined) return ['number'];
  return ANY_TYPE;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

/** The node behind a reference, with what stands beside the reference, and all parts of `allOf` in one. */
function followed(start: Node, before: Walk): { readonly node: Node; readonly walk: Walk } {
  let node = start;
  let walk = before;
  for (let hops = 0; typeof node.$ref === 'string'; hops += 1) {
    const { $ref, ...beside } = node;
    const reference = $ref as string;
    const target = lookUp(reference, walk.root);
    if (hops >= MAX_HOPS || walk.open.has(reference) || walk.budget.left < 0) {
      node = { ...about(target), ...beside };
      continue;
    }
    node = { ...target, ...beside };
    walk = { ...walk, open: new Set([...walk.open, reference]) };
  }
  const { allOf, ...own } = node;
  if (!Array.isArray(allOf) || walk.depth > MAX_DEPTH) return { node, walk };
  let merged: Node = {};
  for (const part of [...asNodes(allOf), own]) {
    const inner = followed(part, { ...walk, depth: walk.depth + 1 });
    walk = { ...walk, open: new Set([...walk.open, ...inner.walk.open]) };
    merged = joined(merged, inner.node);
  }
  return { node: merged, walk };
}

function joined(a: Node, b: Node): Node {
  const properties = { ...asNode(a.properties), ...asNode(b.properties) };
  const required = [...asList(a.required), ...asList(b.required)];
  return {
    ...a,
    ...b,
    ...(Object.keys(properties).length > 0 && { properties }),
    ...(required.length > 0 && { required }),
  };
}

/** What is told of a part that is not told again. */
function about(target: Node): Node {
  const [type] = [target.type].flat().filter((each) => TYPES.has(each));
  return { ...kept(target, ['title', 'description']), type: type ?? (target.properties === undefined ? 'string' : 'object') };
}

function sizeOf(node: Node): number {
  return KEPT.reduce((sum, key) => sum + (node[key] === undefined ? 0 : String(JSON.stringify(node[key])).length), 0);
}

function kept(node: Node, keys: readonly string[]): Node {
  return Object.fromEntries(keys.filter((key) => node[key] !== undefined).map((key) => [key, node[key]]));
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asNodes(value: unknown): readonly Node[] {
  return asList(value)
    .map(asNode)
    .filter((each) => each !== undefined);
}
