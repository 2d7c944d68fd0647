import type { JsonSchema } from './message.ts';

/** One thing wrong with a value: where (JSON pointer, `` for the root), and what to correct. */
export interface SchemaIssue {
  readonly path: string;
  readonly message: string;
}

/** A compiled schema. Returns no issues for a valid value; at most 20 issues otherwise. Never throws. */
export type SchemaCheck = (value: unknown) => readonly SchemaIssue[];

/**
 * JSON Schema validation.
 *
 * Contract:
 * - The dialect is 2020-12 unless `$schema` names draft-07 or an older one.
 * - Unknown keywords and formats are ignored.
 * - The same schema object is compiled once.
 * - A schema that cannot be compiled rejects with `OdekError` of code `invalid_schema`.
 * - A remote `$ref` is refused, never fetched.
 */
export interface SchemaValidator {
  compile(schema: JsonSchema): Promise<SchemaCheck>;
}
