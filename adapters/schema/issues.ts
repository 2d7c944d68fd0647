import type { ErrorObject } from 'ajv';
import type { SchemaIssue } from '../../ports/schema.ts';

const MAX_SHOWN = 80;

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function listed(names: readonly unknown[], max = 12): string {
  const shown = names.slice(0, max).map((name) => JSON.stringify(name));
  return names.length > max ? `${shown.join(', ')}, …` : shown.join(', ');
}

function unknownProperty(error: ErrorObject): string {
  const { additionalProperty, unevaluatedProperty } = error.params as Record<string, unknown>;
  const known = Object.keys((error.parentSchema?.properties as object | undefined) ?? {});
  const hint = known.length === 0 ? '' : ` (known: ${listed(known)})`;
  return `unknown property ${JSON.stringify(additionalProperty ?? unevaluatedProperty)}; remove it${hint}`;
}

/** What to correct, by keyword. Other keywords say it well enough themselves. */
const MESSAGES: Readonly<Record<string, (error: ErrorObject) => string>> = {
  required: (error) => `missing property ${JSON.stringify(error.params.missingProperty)}; add it`,
  additionalProperties: unknownProperty,
  unevaluatedProperties: unknownProperty,
  type: (error) => `must be ${[error.params.type].flat().join(' or ')}; got ${kindOf(error.data)} ${show(error.data)}`,
  enum: (error) => `must be one of ${listed(error.params.allowedValues as unknown[])}; got ${show(error.data)}`,
  const: (error) => `must be ${show(error.params.allowedValue)}; got ${show(error.data)}`,
  'false schema': () => 'no value is allowed here; remove it',
};

/** An ajv error as an issue: the place as JSON pointer, and what to correct with the value seen. */
export function toIssue(error: ErrorObject): SchemaIssue {
  const say = MESSAGES[error.keyword];
  const own = error.propertyName === undefined ? '' : `property name ${JSON.stringify(error.propertyName)} `;
  const message = say === undefined ? `${error.message ?? `breaks "${error.keyword}"`}; got ${show(error.data)}` : say(error);
  return { path: error.instancePath, message: own + message };
}
