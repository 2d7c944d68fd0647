import type { JsonSchema } from '../../ports/message.ts';
import type { SchemaCheck, SchemaIssue, SchemaValidator } from '../../ports/schema.ts';
import { createSmallValidator } from '../fakes/schema.ts';
import type { SchemaValidatorHarness } from './schema-validator.suite.ts';
import type { BrokenAdapter } from './suite.ts';

function broken(name: string, caughtBy: string, make: () => SchemaValidator): BrokenAdapter<SchemaValidatorHarness> {
  return { name, caughtBy: `schema-validator/${caughtBy}`, harness: { make } };
}

/** A validator whose checks are changed by `change`, and compiled once all the same. */
function changed(
  change: (issues: readonly SchemaIssue[], value: unknown, schema: JsonSchema) => readonly SchemaIssue[],
): () => SchemaValidator {
  return () => {
    const inner = createSmallValidator();
    const known = new WeakMap<JsonSchema, SchemaCheck>();
    return {
      async compile(schema) {
        const check = await inner.compile(schema);
        const wrapped = known.get(schema) ?? ((value: unknown) => change(check(value), value, schema));
        known.set(schema, wrapped);
        return wrapped;
      },
    };
  };
}

function rewritten(rewrite: (schema: JsonSchema) => JsonSchema): () => SchemaValidator {
  return () => {
    const inner = createSmallValidator();
    return { compile: (schema) => inner.compile(rewrite(schema)) };
  };
}

function recursive(check: SchemaCheck): SchemaCheck {
  return (value) => {
    JSON.stringify(value);
    return check(value);
  };
}

const ALWAYS_VALID: SchemaCheck = () => [];

/** Validators that the suite must reject. */
export const brokenSchemaValidators: readonly BrokenAdapter<SchemaValidatorHarness>[] = [
  broken(
    'complains about everything',
    'valid',
    changed((issues) => [...issues, { path: '', message: 'hm' }]),
  ),
  broken(
    'says no place',
    'path',
    changed((issues) => issues.map(({ message }) => ({ path: '', message }))),
  ),
  broken(
    'says only that it is wrong',
    'message',
    changed((issues) => issues.map(({ path }) => ({ path, message: 'is invalid' }))),
  ),
  broken(
    'stops at the first issue',
    'at-most-20',
    changed((issues) => issues.slice(0, 1)),
  ),
  broken('overflows the stack', 'never-throws', () => {
    const inner = createSmallValidator();
    return { compile: async (schema) => recursive(await inner.compile(schema)) };
  }),
  broken(
    'reads every schema as draft-07',
    'default-dialect',
    rewritten((schema) => ({ ...schema, $schema: 'http://json-schema.org/draft-07/schema#' })),
  ),
  broken(
    'reads every schema as 2020-12',
    'older-dialect',
    rewritten(({ $schema: _, ...schema }) => schema),
  ),
  broken(
    'is strict about formats',
    'unknown-keywords',
    changed((issues, _value, schema) => ('format' in schema ? [{ path: '', message: 'unknown format' }] : issues)),
  ),
  broken(
    'compiles each time',
    'compiled-once',
    rewritten((schema) => ({ ...schema })),
  ),
  broken('takes any schema', 'invalid-schema', () => {
    const inner = createSmallValidator();
    return { compile: (schema) => inner.compile(schema).catch(() => ALWAYS_VALID) };
  }),
  broken('ignores remote references', 'remote-ref', () => {
    const inner = createSmallValidator();
    return {
      compile: (schema) =>
        inner.compile(schema).catch((error) => (JSON.stringify(schema).includes('http') ? ALWAYS_VALID : Promise.reject(error))),
    };
  }),
];
