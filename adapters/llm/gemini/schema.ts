import type { JsonSchema } from '../../../ports/message.ts';
import type { JsonObject } from '../json-reading.ts';
import { asObject, asText } from '../json-reading.ts';

/** Deeper than any schema of a tool; recursive ones end here in an object without details. */
const MAX_DEPTH = 24;

/** Keywords that both sides have and that keep their value. */
const KEPT = ['title', 'description', 'minItems', 'maxItems', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern'] as const;
const TYPES: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object']);
const FORMATS: ReadonlySet<string> = new Set(['date-time', 'enum', 'int32', 'int64', 'float', 'double']);

/**
 * A tool's parameters in the subset of OpenAPI that Gemini takes; undefined for a tool without any.
 * What the subset cannot say is left out: the arguments are validated against the whole schema later.
 */
export function toGeminiSchema(schema: JsonSchema): object | undefined {
  const translated = translate(schema, schema, 0);
  const hasProperties = Object.keys(asObject(translated.properties) ?? {}).length > 0;
  return hasProperties || translated.anyOf !== undefined ? translated : undefined;
}

function translate(raw: unknown, root: JsonSchema, depth: number): Record<string, unknown> {
  const schema = merged(resolve(asObject(raw) ?? {}, root), root);
  if (depth > MAX_DEPTH) return { type: 'OBJECT' };
  const { types, nullable } = readTypes(schema);
  const choices = (asList(schema.anyOf) ?? asList(schema.oneOf))?.map((choice) => resolve(asObject(choice) ?? {}, root));
  const real = choices?.filter((choice) => choice.type !== 'null');
  const isNullable = nullable || (real !== undefined && real.length < (choices?.length ?? 0));
  if (real !== undefined && real.length === 1)
    return withNull(translate({ ...schema, anyOf: undefined, oneOf: undefined, ...real[0] }, root, depth + 1), isNullable);
  if (real !== undefined && real.length > 1) {
    return withNull({ ...kept(schema), anyOf: real.map((choice) => translate(choice, root, depth + 1)) }, isNullable);
  }
  if (types.length > 1) {
    return withNull(
      { ...kept(schema), anyOf: types.map((type) => translate({ ...schema, type, description: undefined }, root, depth + 1)) },
      isNullable,
    );
  }
  return withNull(translateOne(schema, types[0], root, depth), isNullable);
}

function translateOne(schema: JsonObject, type: string | undefined, root: JsonSchema, depth: number): Record<string, unknown> {
  const format = asText(schema.format);
  const common = {
    ...kept(schema),
    ...(format !== undefined && FORMATS.has(format) ? { format } : {}),
    ...bounds(schema),
  };
  switch (type ?? impliedType(schema)) {
    case 'object':
      return { type: 'OBJECT', ...common, ...objectParts(schema, root, depth) };
    case 'array':
      return { type: 'ARRAY', ...common, items: translate(asObject(schema.items) ?? { type: 'string' }, root, depth + 1) };
    case 'string':
      return { type: 'STRING', ...common, ...choicesOf(schema) };
    case undefined:
      return { type: 'STRING', ...common, ...choicesOf(schema) };
    default:
      return { type: (type ?? impliedType(schema) ?? 'string').toUpperCase(), ...common, ...described(schema) };
  }
}

function objectParts(schema: JsonObject, root: JsonSchema, depth: number): object {
  const properties = Object.entries(asObject(schema.properties) ?? {});
  if (properties.length === 0) return {};
  const names = new Set(properties.map(([name]) => name));
  const required = asList(schema.required)?.filter((name) => typeof name === 'string' && names.has(name)) ?? [];
  return {
    properties: Object.fromEntries(properties.map(([name, value]) => [name, translate(value, root, depth + 1)])),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** Only texts can have a closed set of values. */
function choicesOf(schema: JsonObject): object {
  const values = allowedValues(schema)?.filter((value) => typeof value === 'string' && value !== '');
  return values === undefined || values.length === 0 ? {} : { enum: values };
}

/** The values of a number are told in words. */
function described(schema: JsonObject): object {
  const values = allowedValues(schema);
  const { description } = schema;
  if (values === undefined) return {};
  const says = `One of: ${values.map((value) => JSON.stringify(value)).join(', ')}.`;
  return { description: typeof description === 'string' ? `${description} ${says}` : says };
}

function allowedValues(schema: JsonObject): readonly unknown[] | undefined {
  return schema.const === undefined ? asList(schema.enum) : [schema.const];
}

function bounds(schema: JsonObject): object {
  const least = typeof schema.exclusiveMinimum === 'number' && schema.minimum === undefined ? { minimum: schema.exclusiveMinimum } : {};
  const most = typeof schema.exclusiveMaximum === 'number' && schema.maximum === undefined ? { maximum: schema.exclusiveMaximum } : {};
  return { ...least, ...most };
}

function kept(schema: JsonObject): Record<string, unknown> {
  return Object.fromEntries(KEPT.filter((key) => schema[key] !== undefined).map((key) => [key, schema[key]]));
}

function withNull(schema: Record<string, unknown>, nullable: boolean): Record<string, unknown> {
  return nullable ? { ...schema, nullable: true } : schema;
}

function readTypes(schema: JsonObject): { readonly types: readonly string[]; readonly nullable: boolean } {
  const all = [schema.type].flat().filter((type) => typeof type === 'string');
  const nullable = all.includes('null') || schema.nullable === true || (asList(schema.enum)?.includes(null) ?? false);
  return { types: all.filter((type) => TYPES.has(type)), nullable };
}

function impliedType(schema: JsonObject): string | undefined {
  if (schema.properties !== undefined) return 'object';
  if (schema.items !== undefined) return 'array';
  const [value] = allowedValues(schema) ?? [];
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value === 'boolean' ? 'boolean' : undefined;
}

/** What all of `allOf` say together. */
function merged(schema: JsonObject, root: JsonSchema): JsonObject {
  const { allOf, ...own } = schema;
  const parts = [own, ...(asList(allOf) ?? []).map((part) => resolve(asObject(part) ?? {}, root))];
  if (parts.length === 1) return schema;
  const properties = Object.assign({}, ...parts.map((part) => asObject(part.properties) ?? {})) as JsonObject;
  const required = parts.flatMap((part) => asList(part.required) ?? []);
  return {
    ...(Object.assign({}, ...parts) as JsonObject),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  };
}

/** A reference within the schema, followed a few times; what leads nowhere is an empty schema. */
function resolve(schema: JsonObject, root: JsonSchema): JsonObject {
  let found = schema;
  for (let hops = 0; hops < 8 && typeof found.$ref === 'string'; hops += 1) {
    const { $ref, ...beside } = found;
    const target = lookUp($ref as string, root);
    found = { ...target, ...beside };
  }
  return found;
}

function lookUp(reference: string, root: JsonSchema): JsonObject {
  if (reference === '#') return root;
  if (!reference.startsWith('#/')) return {};
  const steps = reference
    .slice(2)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return asObject(steps.reduce<unknown>((place, step) => asObject(place)?.[step], root)) ?? {};
}

function asList(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}
