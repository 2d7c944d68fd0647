import { describe, expect, it } from 'vitest';
import { modelParameters } from '../../../core/mcp/parameters.ts';

const x = (schema: unknown, rest: object = {}) =>
  (modelParameters({ type: 'object', properties: { x: schema }, ...rest }).properties as Record<string, unknown>).x;
const ANY = ['string', 'number', 'boolean', 'object', 'array', 'null'];

describe('the schema that a model gets', () => {
  it('has an object at its root whatever the server wrote', () => {
    expect(modelParameters({})).toEqual({ type: 'object', properties: {} });
    expect(modelParameters({ type: ['object', 'null'], title: 'T', $schema: 's', $id: 'i' })).toEqual({
      type: 'object',
      title: 'T',
      properties: {},
    });
  });

  it('has the properties of all alternatives at the root, and requires what all of them require', () => {
    const branch = (name: string) => ({
      type: 'object',
      properties: { [name]: { type: 'string' }, k: { type: 'integer' } },
      required: [name, 'k'],
    });
    expect(modelParameters({ oneOf: [branch('a'), branch('b')] })).toEqual({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' }, k: { type: 'integer' } },
      required: ['k'],
    });
  });

  it('has no references: a local one is followed, with what stands beside it', () => {
    const $defs = { 'a/b': { type: 'string', description: 'of the target', maxLength: 3 } };
    expect(x({ $ref: '#/$defs/a~1b', description: 'beside' }, { $defs })).toEqual({ type: 'string', description: 'beside', maxLength: 3 });
    expect(x({ anyOf: [{ $ref: '#/$defs/a~1b' }, { type: 'null' }], default: null }, { $defs })).toEqual({
      anyOf: [{ type: 'string', description: 'of the target', maxLength: 3 }, { type: 'null' }],
      default: null,
    });
  });

  it('ends a recursion in an object that is only named', () => {
    const $defs = {
      node: { type: 'object', description: 'A node', properties: { next: { $ref: '#/$defs/node' }, v: { type: 'number' } } },
    };
    expect(x({ $ref: '#/$defs/node' }, { $defs })).toEqual({
      type: 'object',
      description: 'A node',
      properties: { next: { type: 'object', description: 'A node', properties: {} }, v: { type: 'number' } },
    });
    expect(x({ $ref: '#' })).toMatchObject({ type: 'object' });
  });

  it('gives a type to every value', () => {
    expect(x({ description: 'anything', default: null })).toEqual({
      description: 'anything',
      default: null,
      type: ANY,
      properties: {},
      items: { type: ANY.filter((type) => type !== 'array') },
    });
    expect(x({ enum: ['a', 1, null] })).toEqual({ enum: ['a', 1, null], type: ['string', 'number', 'null'] });
    expect(x({ properties: { y: { const: true } } })).toEqual({ type: 'object', properties: { y: { const: true, type: 'boolean' } } });
    expect(x({ items: { type: 'integer' } })).toEqual({ type: 'array', items: { type: 'integer' } });
    expect(x({ type: ['string', 'null'] })).toEqual({ type: ['string', 'null'] });
    expect(x(true)).toMatchObject({ type: ANY });
    expect(x(false)).toEqual({ type: 'string', description: 'Leave this out.' });
  });

  it('gives items to every array', () => {
    expect(x({ type: 'array' })).toMatchObject({ type: 'array', items: { type: expect.arrayContaining(['string']) } });
    expect(x({ type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] })).toEqual({
      type: 'array',
      items: { anyOf: [{ type: 'string' }, { type: 'number' }] },
    });
  });

  it('requires only what is there', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'gone', 'a'] };
    expect(modelParameters(schema)).toMatchObject({ required: ['a'] });
    expect(modelParameters({ type: 'object', required: ['gone'] })).not.toHaveProperty('required');
  });

  it('joins the parts of allOf', () => {
    const allOf = [
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      { properties: { b: { type: 'number' } }, required: ['b'] },
    ];
    expect(x({ allOf })).toEqual({ type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a', 'b'] });
  });

  it('keeps a property called __proto__ as one, and changes no prototype', () => {
    const schema = modelParameters(
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string","polluted":1}},"required":["__proto__"]}'),
    );
    expect(Object.keys(schema.properties as object)).toEqual(['__proto__']);
    expect(schema.required).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});
