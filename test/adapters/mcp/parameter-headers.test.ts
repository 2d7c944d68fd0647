import { describe, expect, it } from 'vitest';
import { headersOf, parameterHeadersOf } from '../../../adapters/mcp/parameter-headers.ts';

const property = (header: unknown, type: unknown = 'string') => ({ type, 'x-mcp-header': header });
const schema = (properties: Record<string, unknown>) => ({ type: 'object', properties });

describe('arguments that a tool wants in headers', () => {
  it('are found at any depth of properties, and nothing is found in most schemas', () => {
    expect(parameterHeadersOf(schema({ a: property('A'), b: schema({ c: property('C', 'integer') }) }))).toEqual([
      { path: ['a'], header: 'A' },
      { path: ['b', 'c'], header: 'C' },
    ]);
    expect(parameterHeadersOf(schema({ a: { type: 'string' } }))).toEqual([]);
  });

  it('are not made by a property of that name, or by data', () => {
    expect(parameterHeadersOf(schema({ 'x-mcp-header': { type: 'string', default: { 'x-mcp-header': 'x' } } }))).toEqual([]);
  });

  it.each([
    ['no token', schema({ a: property('a b') })],
    ['no text', schema({ a: property(7) })],
    ['a wrong type', schema({ a: property('A', 'number') })],
    ['one name twice', schema({ a: property('A'), b: property('a') })],
    ['a place in a list', schema({ a: { type: 'array', items: property('A') } })],
    ['a place in a choice', { anyOf: [schema({ a: property('A') })] }],
    ['the root', { ...schema({}), 'x-mcp-header': 'A' }],
  ])('are wrong with %s', (_what, wrong) => {
    expect(typeof parameterHeadersOf(wrong)).toBe('string');
  });

  it('become headers of plain text, encoded where needed, and none when absent', () => {
    const declared = ['s', 'i', 'b', 'n', 'o', 'u'].map((name) => ({ path: [name], header: name.toUpperCase() }));
    expect(headersOf(declared, { s: 'eu', i: 7, b: false, n: null, o: {}, u: 'ü' })).toEqual({
      'mcp-param-S': 'eu',
      'mcp-param-I': '7',
      'mcp-param-B': 'false',
      'mcp-param-U': '=?base64?w7w=?=',
    });
    expect(headersOf([{ path: ['a', 'b'], header: 'X' }], { a: 'text' })).toEqual({});
    expect(headersOf([{ path: ['s'], header: 'X' }], { s: ' padded ' })).toEqual({ 'mcp-param-X': '=?base64?IHBhZGRlZCA=?=' });
    expect(headersOf([{ path: ['constructor'], header: 'X' }], {})).toEqual({});
  });
});
