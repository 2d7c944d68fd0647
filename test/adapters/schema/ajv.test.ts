import { describe, expect, it } from 'vitest';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import type { JsonSchema } from '../../../ports/message.ts';

const DRAFTS = 'http://json-schema.org/draft-0';

async function issues(schema: JsonSchema, value: unknown) {
  return (await createSchemaValidator().compile(schema))(value);
}

describe('issues', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { path: { type: 'string' }, mode: { enum: ['a', 'b'] }, count: { type: 'integer', minimum: 1 } },
    required: ['path'],
    additionalProperties: false,
  };
  it.each([
    [{}, '', 'missing property "path"; add it'],
    [{ path: 5 }, '/path', 'must be string; got number 5'],
    [{ path: 'x', pth: 1 }, '', 'unknown property "pth"; remove it (known: "path", "mode", "count")'],
    [{ path: 'x', mode: 'c' }, '/mode', 'must be one of "a", "b"; got "c"'],
    [{ path: 'x', count: 0 }, '/count', 'must be >= 1; got 0'],
    [[], '', 'must be object; got array []'],
  ])('of %j say what to correct', async (value, path, message) => {
    expect(await issues(schema, value)).toEqual([{ path, message }]);
  });

  it('never show a whole huge value', async () => {
    const [issue] = await issues({ type: 'number' }, 'x'.repeat(100_000));
    expect(issue?.message.length).toBeLessThan(200);
  });

  it('do not take inherited properties for given ones', async () => {
    expect(await issues({ type: 'object', required: ['toString'] }, {})).toHaveLength(1);
  });
});

describe('dialects', () => {
  it.each([`${DRAFTS}7/schema#`, `${DRAFTS}7/schema`, 'https://json-schema.org/draft-07/schema', `${DRAFTS}6/schema#`])(
    '%s knows tuples by items',
    async (dialect) => {
      expect(await issues({ $schema: dialect, items: [{ type: 'number' }] }, ['x'])).toHaveLength(1);
    },
  );

  it('draft-04 has exclusive bounds as flags', async () => {
    const schema: JsonSchema = {
      $schema: `${DRAFTS}4/schema#`,
      id: 'http://example.test/x',
      properties: { a: { minimum: 1, exclusiveMinimum: true }, b: { maximum: 1, exclusiveMaximum: false } },
    };
    expect((await issues(schema, { a: 1, b: 1 })).map(({ path }) => path)).toEqual(['/a']);
  });

  it.each(['https://json-schema.org/draft/2019-09/schema', 'urn:novel'])('%s is read as 2020-12', async (dialect) => {
    expect(await issues({ $schema: dialect, prefixItems: [{ type: 'number' }] }, ['x'])).toHaveLength(1);
  });
});

describe('schemas of strangers', () => {
  it('may resolve references within themselves, also in circles', async () => {
    const schema: JsonSchema = {
      $ref: '#/$defs/node',
      $defs: { node: { type: 'object', properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } } } },
    };
    expect(await issues(schema, { next: { next: null } })).toEqual([]);
    expect(await issues(schema, { next: { next: 5 } })).not.toEqual([]);
  });

  it('may share an $id', async () => {
    const validator = createSchemaValidator();
    const strict = await validator.compile({ $id: 'http://example.test/same', type: 'string' });
    const loose = await validator.compile({ $id: 'http://example.test/same', type: 'number' });
    expect([strict('x'), loose(1)]).toEqual([[], []]);
  });

  it('may name a property __proto__ and carry an id of their own', async () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"id":{"type":"string","id":"x"}}}');
    expect(await issues(schema, JSON.parse('{"__proto__":5}'))).toEqual([]);
    expect(await issues(schema, { id: 5 })).toHaveLength(1);
    expect(await issues(schema, { id: 'x' })).toEqual([]);
  });

  it.each([
    [{ $ref: 'http://json-schema.org/draft-07/schema#' }],
    [{ required: 'a' }],
    [{ properties: 5 }],
    [{ pattern: '(' }],
    [{ $ref: '#/$defs/missing' }],
  ])('%j is refused by name', async (schema) => {
    await expect(createSchemaValidator().compile(schema)).rejects.toMatchObject({
      code: 'invalid_schema',
      message: expect.stringContaining('cannot be used: '),
    });
  });

  it('are refused when they are huge or no JSON', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    await expect(createSchemaValidator().compile(cyclic)).rejects.toMatchObject({ code: 'invalid_schema' });
    await expect(createSchemaValidator().compile({ description: 'x'.repeat(600_000) })).rejects.toMatchObject({
      code: 'invalid_schema',
      limit: 524_288,
    });
  });

  it.each(['^(a+)+$', '^(a|a)*$', 'a*a*a*a*a*a*$', '(?=(a+))\\1+b', '^(a?){40}a{40}$'])(
    'with the pattern %s end in time',
    async (pattern) => {
      const check = await createSchemaValidator().compile({ type: 'array', items: { type: 'string', pattern } });
      const start = performance.now();
      check(Array.from({ length: 40 }, () => `${'a'.repeat(3000)}!`));
      expect(performance.now() - start).toBeLessThan(5000);
    },
  );

  it('with hostile patterns leave later checks their full time', async () => {
    const check = await createSchemaValidator().compile({ type: 'string', pattern: '^(a+)+$' });
    expect(check(`${'a'.repeat(40)}!`)).toHaveLength(1);
    expect(check('aaaa')).toEqual([]);
  });

  it('with ordinary patterns are matched as written', async () => {
    const schema: JsonSchema = { type: 'string', pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$' };
    expect(await issues(schema, 'some-kebab-name-2')).toEqual([]);
    expect(await issues(schema, 'Not Kebab')).toHaveLength(1);
    expect(await issues({ type: 'string', pattern: '^\\d{4}\\-\\d{2}$' }, '2026-01')).toEqual([]);
  });
});
