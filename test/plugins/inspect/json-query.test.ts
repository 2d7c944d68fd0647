import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJsonPath, writeJsonPath } from '../../../plugins/inspect/json-path.ts';
import { memoryTools } from './fixture.ts';

const DOCUMENT = {
  name: 'odek',
  list: [{ id: 1 }, { id: 2, 'dotted.name': true }],
  empty: null,
  nested: { a: { b: 'deep' } },
  constructor: 'own',
};

function tools(document: unknown = DOCUMENT) {
  const all = memoryTools();
  all.fs.put('doc.json', typeof document === 'string' ? document : JSON.stringify(document));
  return all;
}

describe('json_query', () => {
  it.each([
    ['name', 'odek', 'string'],
    ['$.name', 'odek', 'string'],
    ['list[1].id', 2, 'number'],
    ['list.1.id', 2, 'number'],
    ['list[-1]["dotted.name"]', true, 'boolean'],
    ['nested.a', { b: 'deep' }, 'object'],
    ['list', DOCUMENT.list, 'array'],
    ['empty', null, 'null'],
    ['constructor', 'own', 'string'],
    ['', DOCUMENT, 'object'],
  ])('finds %s', async (query, value, type) => {
    expect(await tools().call('json_query', { path: 'doc.json', query })).toMatchObject({
      source: 'json_query:doc.json',
      failed: false,
      value: { value, value_type: type },
    });
  });

  it.each([
    ['nested.x.y', '$.nested.x does not exist; $.nested is an object with the members "a"'],
    ['list[2]', '$.list[2] does not exist; $.list is an array of 2 elements'],
    ['name.length', '$.name.length does not exist; $.name is a string'],
    ['nested.toString', '$.nested.toString does not exist'],
    ['nested.__proto__', '$.nested.__proto__ does not exist'],
    ['empty.x', '$.empty is a null'],
  ])('says where %s stops', async (query, error) => {
    expect(await tools().call('json_query', { path: 'doc.json', query })).toMatchObject({
      failed: true,
      value: { error: expect.stringContaining(error) },
    });
  });

  it.each(['a..b', 'a[', 'a[x]', 'a]b', '.', '[1', '["a]', 'a b]'])('says that %s cannot be read', async (query) => {
    expect((await tools().call('json_query', { path: 'doc.json', query })).value.error).toContain('query cannot be read at');
  });

  it('says what is wrong with a file that is no JSON or too large', async () => {
    const { fs, call } = tools('{"a": tru}');
    expect((await call('json_query', { path: 'doc.json' })).value.error).toContain('doc.json is not JSON');
    fs.put('big.json', `"${'x'.repeat(10 * 1024 * 1024)}"`);
    expect((await call('json_query', { path: 'big.json' })).value.error).toContain('at most 10485760');
  });

  it('reads a file with a byte order mark', async () => {
    expect((await tools('\ufeff{"a":1}').call('json_query', { path: 'doc.json', query: 'a' })).value.value).toBe(1);
  });

  it('asks for a smaller part of a value that is too long or nested too deeply', async () => {
    const { fs, call } = tools({ long: 'x'.repeat(1024 * 1024), short: 1 });
    expect((await call('json_query', { path: 'doc.json' })).value.error).toContain('the members "long", "short"');
    fs.put('deep.json', `${'['.repeat(200_000)}${']'.repeat(200_000)}`);
    expect((await call('json_query', { path: 'deep.json' })).value.error).toMatch(/nested too deeply|not JSON/);
    expect((await call('json_query', { path: 'deep.json', query: '[0]'.repeat(300) })).value.error).toContain('more than 256 steps');
  });

  it('says that a number lost digits', async () => {
    expect((await tools('{"id": 12345678901234567890}').call('json_query', { path: 'doc.json', query: 'id' })).value.note).toContain(
      'digits',
    );
  });
});

describe('the path of a query', () => {
  it('is read as it is written', () => {
    const step = fc.oneof(fc.nat({ max: 1000 }), fc.string({ minLength: 1 }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        expect(parseJsonPath(writeJsonPath(steps))).toEqual(steps);
      }),
    );
  });
});
