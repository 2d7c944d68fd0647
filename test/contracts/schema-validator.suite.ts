import assert from 'node:assert/strict';
import { hasCode } from '../../ports/errors.ts';
import type { JsonSchema } from '../../ports/message.ts';
import type { SchemaValidator } from '../../ports/schema.ts';
import type { ContractSuite } from './suite.ts';

export interface SchemaValidatorHarness {
  make(): SchemaValidator;
}

const PERSON: JsonSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } },
  required: ['name'],
  additionalProperties: false,
};
const DRAFT_07 = 'http://json-schema.org/draft-07/schema#';

async function issues(validator: SchemaValidator, schema: JsonSchema, value: unknown) {
  return (await validator.compile(schema))(value);
}

async function refuses(validator: SchemaValidator, schema: JsonSchema): Promise<void> {
  await assert.rejects(
    async () => validator.compile(schema),
    (error) => hasCode(error, 'invalid_schema'),
  );
}

/** What every {@link SchemaValidator} keeps. */
export const schemaValidatorSuite: ContractSuite<SchemaValidatorHarness> = {
  port: 'schema-validator',
  cases: [
    {
      id: 'schema-validator/valid',
      sentence: 'A check returns no issues for a valid value.',
      async run({ make }) {
        assert.deepEqual(await issues(make(), PERSON, { name: 'x', tags: ['a'] }), []);
      },
    },
    {
      id: 'schema-validator/path',
      sentence: 'An issue tells where it is, as a JSON pointer that is empty for the root.',
      async run({ make }) {
        assert.deepEqual(
          (await issues(make(), PERSON, { name: 'x', tags: ['a', 5] })).map(({ path }) => path),
          ['/tags/1'],
        );
        assert.deepEqual(
          (await issues(make(), PERSON, 5)).map(({ path }) => path),
          [''],
        );
      },
    },
    {
      id: 'schema-validator/message',
      sentence: 'An issue tells what to correct.',
      async run({ make }) {
        assert.match((await issues(make(), PERSON, {}))[0]?.message ?? '', /name/);
        assert.match((await issues(make(), PERSON, { name: 'x', other: 1 }))[0]?.message ?? '', /other/);
        assert.match((await issues(make(), PERSON, { name: 5 }))[0]?.message ?? '', /string/);
      },
    },
    {
      id: 'schema-validator/at-most-20',
      sentence: 'A check returns at most 20 issues.',
      async run({ make }) {
        const found = await issues(make(), PERSON, { name: 'x', tags: Array.from({ length: 100 }, () => 5) });
        assert.equal(found.length, 20);
      },
    },
    {
      id: 'schema-validator/never-throws',
      sentence: 'A check never throws.',
      async run({ make }) {
        const nested: JsonSchema = { $defs: { n: { properties: { n: { $ref: '#/$defs/n' } } } }, $ref: '#/$defs/n' };
        const check = await make().compile(nested);
        let value: unknown = {};
        for (let depth = 0; depth < 100_000; depth += 1) value = { n: value };
        assert.equal(check(value).length > 0, true);
        assert.deepEqual(check({ n: {} }), []);
      },
    },
    {
      id: 'schema-validator/default-dialect',
      sentence: 'The dialect is 2020-12 unless $schema names another.',
      async run({ make }) {
        const schema: JsonSchema = { type: 'array', prefixItems: [{ type: 'number' }] };
        assert.equal((await issues(make(), schema, ['x'])).length, 1);
      },
    },
    {
      id: 'schema-validator/older-dialect',
      sentence: '$schema can name draft-07 or an older one.',
      async run({ make }) {
        const schema: JsonSchema = { $schema: DRAFT_07, type: 'array', items: [{ type: 'number' }], prefixItems: [{ type: 'string' }] };
        assert.equal((await issues(make(), schema, ['x'])).length, 1);
        assert.deepEqual(await issues(make(), { ...schema, $schema: 'http://json-schema.org/draft-06/schema' }, [1]), []);
      },
    },
    {
      id: 'schema-validator/unknown-keywords',
      sentence: 'Unknown keywords and formats are ignored.',
      async run({ make }) {
        const schema: JsonSchema = { type: 'string', format: 'moon-phase', 'x-order': 3, deferred: true };
        assert.deepEqual(await issues(make(), schema, 'x'), []);
      },
    },
    {
      id: 'schema-validator/compiled-once',
      sentence: 'The same schema object is compiled once.',
      async run({ make }) {
        const validator = make();
        const schema = { ...PERSON };
        assert.equal(await validator.compile(schema), await validator.compile(schema));
      },
    },
    {
      id: 'schema-validator/invalid-schema',
      sentence: 'A schema that cannot be compiled rejects with invalid_schema.',
      async run({ make }) {
        await refuses(make(), { type: 'object', properties: { a: { type: 'strng' } } });
      },
    },
    {
      id: 'schema-validator/remote-ref',
      sentence: 'A remote $ref is refused, never fetched.',
      async run({ make }) {
        await refuses(make(), { type: 'object', properties: { a: { $ref: 'http://127.0.0.1:9/schema.json' } } });
      },
    },
  ],
};
