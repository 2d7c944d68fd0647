import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toGeminiSchema } from '../../../../adapters/llm/gemini/schema.ts';

const object = (properties: object, rest: object = {}): Record<string, unknown> => ({ type: 'object', properties, ...rest });

/** The translation of one property. */
function property(schema: object, rest: object = {}): unknown {
  return (toGeminiSchema(object({ p: schema }, rest)) as { properties: { p: unknown } }).properties.p;
}

describe('the parameters of a tool', () => {
  it('keep what both sides have', () => {
    const schema = object(
      {
        path: { type: 'string', description: 'where', minLength: 1, pattern: '^a' },
        lines: { type: 'array', items: { type: 'integer', minimum: 0 }, maxItems: 3 },
      },
      { required: ['path', 'gone'], additionalProperties: false, $schema: 'x' },
    );
    expect(toGeminiSchema(schema)).toEqual({
      type: 'OBJECT',
      properties: {
        path: { type: 'STRING', description: 'where', minLength: 1, pattern: '^a' },
        lines: { type: 'ARRAY', items: { type: 'INTEGER', minimum: 0 }, maxItems: 3 },
      },
      required: ['path'],
    });
  });

  it.each([
    ['no schema', {}],
    ['an empty object', { type: 'object', properties: {} }],
  ])('are left out where there is %s', (_what, schema) => {
    expect(toGeminiSchema(schema)).toBeUndefined();
  });

  it.each([
    ['a null beside a type', { type: ['string', 'null'] }, { type: 'STRING', nullable: true }],
    ['a null as a choice', { anyOf: [{ type: 'integer' }, { type: 'null' }] }, { type: 'INTEGER', nullable: true }],
    [
      'several types',
      { type: ['string', 'integer'], description: 'd' },
      { description: 'd', anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }] },
    ],
    ['oneOf', { oneOf: [{ type: 'string' }, { type: 'boolean' }] }, { anyOf: [{ type: 'STRING' }, { type: 'BOOLEAN' }] }],
    ['a constant', { const: 'a' }, { type: 'STRING', enum: ['a'] }],
    ['texts to choose from', { enum: ['a', 'b'] }, { type: 'STRING', enum: ['a', 'b'] }],
    ['numbers to choose from', { type: 'integer', enum: [1, 2] }, { type: 'INTEGER', description: 'One of: 1, 2.' }],
    ['an open bound', { type: 'number', exclusiveMinimum: 0 }, { type: 'NUMBER', minimum: 0 }],
    ['an unknown format', { type: 'string', format: 'uri' }, { type: 'STRING' }],
    ['a known format', { type: 'string', format: 'date-time' }, { type: 'STRING', format: 'date-time' }],
    ['no type', { description: 'd' }, { type: 'STRING', description: 'd' }],
    ['an object without details', { type: 'object' }, { type: 'OBJECT' }],
    [
      'allOf',
      {
        allOf: [
          { properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { type: 'string' } }, required: ['b'] },
        ],
      },
      { type: 'OBJECT', properties: { a: { type: 'STRING' }, b: { type: 'STRING' } }, required: ['a', 'b'] },
    ],
  ])('say %s in the words of the subset', (_what, schema, want) => {
    expect(property(schema)).toEqual(want);
  });

  it('are followed through references, also recursive ones, to an end', () => {
    const rest = { $defs: { id: { type: 'integer' }, tree: object({ left: { $ref: '#/$defs/tree' } }) } };
    expect(property({ $ref: '#/$defs/id', description: 'd' }, rest)).toEqual({ type: 'INTEGER', description: 'd' });
    expect(property({ $ref: '#/elsewhere' }, rest)).toEqual({ type: 'STRING' });
    expect(JSON.stringify(property({ $ref: '#/$defs/tree' }, rest)).length).toBeLessThan(5_000);
  });

  it('become a schema that Gemini can read, whatever they are', () => {
    const known = new Set(['type', 'format', 'title', 'description', 'nullable', 'enum', 'items', 'properties', 'required', 'anyOf']);
    for (const key of ['minItems', 'maxItems', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern']) known.add(key);
    const check = (schema: Record<string, unknown>): void => {
      expect(Object.keys(schema).filter((key) => !known.has(key))).toEqual([]);
      expect(schema.type !== undefined || schema.anyOf !== undefined).toBe(true);
      for (const inner of Object.values((schema.properties ?? {}) as Record<string, Record<string, unknown>>)) check(inner);
      for (const inner of (schema.anyOf ?? []) as Record<string, unknown>[]) check(inner);
      if (schema.items !== undefined) check(schema.items as Record<string, unknown>);
    };
    const { schema } = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        fc.record({ type: fc.constantFrom('string', 'integer', 'boolean', 'null', ['string', 'null']) }),
        fc.record({ enum: fc.array(fc.oneof(fc.string(), fc.integer(), fc.constant(null))) }),
        fc.record({ type: fc.constant('array'), items: tie('schema') }, { requiredKeys: ['type'] }),
        fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 3 }) }),
        fc.record({ allOf: fc.array(tie('schema'), { maxLength: 3 }) }),
        fc.record({ type: fc.constant('object'), properties: fc.dictionary(fc.string(), tie('schema'), { maxKeys: 3 }) }),
      ),
    }));
    fc.assert(
      fc.property(schema, (any) => {
        check(property(any as object) as Record<string, unknown>);
      }),
    );
  });
});
