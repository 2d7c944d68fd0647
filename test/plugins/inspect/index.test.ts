import { describe, expect, it } from 'vitest';
import { memoryTools } from './fixture.ts';

describe('the inspecting tools', () => {
  it('are told to a model in at most 600 bytes each, and bounded by their own limits', () => {
    const { registry } = memoryTools();
    expect(registry.list().map(({ spec }) => spec.name)).toEqual(['base64', 'checksum', 'diff', 'head_tail', 'json_query', 'tree']);
    for (const definition of registry.definitions())
      expect(Buffer.byteLength(JSON.stringify(definition)), definition.name).toBeLessThanOrEqual(600);
    expect(registry.list().filter(({ spec }) => spec.maxResultChars === undefined)).toEqual([]);
  });

  it.each([
    ['tree', {}, ['.']],
    ['tree', { path: 'a' }, ['a']],
    ['diff', { path_a: 'a', path_b: 'b' }, ['a', 'b']],
    ['diff', { path: 'a', content: 'x' }, ['a']],
    ['json_query', { path: 'a' }, ['a']],
    ['checksum', { path: 'a' }, ['a']],
    ['head_tail', { path: 'a' }, ['a']],
    ['base64', { path: 'a' }, ['a']],
    ['base64', { content: 'a' }, undefined],
  ])('%s %o says that it reads %o and nothing else', (name, input, reads) => {
    expect(
      memoryTools()
        .registry.get(name)
        ?.spec.effects?.(input as never),
    ).toEqual(reads === undefined ? {} : { reads });
  });
});
