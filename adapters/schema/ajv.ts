import type { Ajv, Options, ValidateFunction } from 'ajv';
import { OdekError } from '../../ports/errors.ts';
import type { JsonSchema } from '../../ports/message.ts';
import type { SchemaCheck, SchemaValidator } from '../../ports/schema.ts';
import { createPatternEngine } from './bounded-pattern.ts';
import { type Dialect, dialectOf, modernised } from './dialect.ts';
import { toIssue } from './issues.ts';

const MAX_ISSUES = 20;
/** Characters of a schema as JSON. */
const MAX_SCHEMA_CHARS = 512 * 1024;

type Compiler = Pick<Ajv, 'compile' | 'removeSchema' | 'removeKeyword'>;

const COMPILERS: Readonly<Record<Dialect, (options: Options) => Promise<Compiler>>> = {
  '2020-12': async (options) => new (await import('ajv/dist/2020.js')).Ajv2020(options),
  'draft-07': async (options) => new (await import('ajv')).Ajv(options),
};

function invalidSchema(reason: string, cause?: unknown): OdekError {
  return new OdekError('invalid_schema', `the schema cannot be used: ${reason}`, { value: reason, cause });
}

function checkSize(schema: JsonSchema): void {
  let size: number;
  try {
    size = JSON.stringify(schema).length;
  } catch (error) {
    throw invalidSchema('it is no JSON', error);
  }
  if (size <= MAX_SCHEMA_CHARS) return;
  throw new OdekError('invalid_schema', `the schema cannot be used: it has ${size} characters, the limit is ${MAX_SCHEMA_CHARS}`, {
    value: size,
    limit: MAX_SCHEMA_CHARS,
  });
}

/**
 * Validation with ajv, which is loaded at the first `compile`. Formats are annotations. Patterns run
 * under a time limit of 250 ms a check for all of them together; one that is not done by then counts
 * as not matching.
 */
export function createSchemaValidator(): SchemaValidator {
  const compilers = new Map<Dialect, Promise<Compiler>>();
  const checks = new WeakMap<JsonSchema, Promise<SchemaCheck>>();
  const patterns = createPatternEngine();

  async function createCompiler(dialect: Dialect): Promise<Compiler> {
    const compiler = await COMPILERS[dialect]({
      strict: false,
      logger: false,
      // Schemas of strangers are checked by compiling them; compiling the meta-schema first would cost 100 ms.
      validateSchema: false,
      meta: false,
      addUsedSchema: false,
      validateFormats: false,
      allErrors: true,
      verbose: true,
      ownProperties: true,
      code: { regExp: patterns.engine },
    });
    // In these dialects `id` is an unknown keyword and means nothing.
    compiler.removeKeyword('id');
    return compiler;
  }

  function compilerFor(dialect: Dialect): Promise<Compiler> {
    const known = compilers.get(dialect) ?? createCompiler(dialect);
    compilers.set(dialect, known);
    return known;
  }

  function toCheck(validate: ValidateFunction): SchemaCheck {
    return (value) => {
      patterns.restart();
      try {
        if (validate(value)) return [];
        return (validate.errors ?? []).slice(0, MAX_ISSUES).map(toIssue);
      } catch (error) {
        const reason = error instanceof RangeError ? 'is nested too deeply; make it flatter' : 'could not be checked';
        return [{ path: '', message: reason }];
      } finally {
        validate.errors = null;
      }
    };
  }

  async function compile(schema: JsonSchema): Promise<SchemaCheck> {
    checkSize(schema);
    const compiler = await compilerFor(dialectOf(schema));
    const source = modernised(schema);
    try {
      return toCheck(compiler.compile(source));
    } catch (error) {
      throw invalidSchema(error instanceof Error ? error.message : String(error), error);
    } finally {
      compiler.removeSchema(source);
    }
  }

  return {
    compile(schema) {
      const known = checks.get(schema) ?? compile(schema);
      checks.set(schema, known);
      return known;
    },
  };
}
