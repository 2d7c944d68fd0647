import { describe, expect, it } from 'vitest';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import type { ToolSpec } from '../../../ports/plugin.ts';
import { sampleTool } from '../../contracts/plugin.broken.ts';

const codeOf = (work: () => unknown): unknown => {
  try {
    work();
    return 'no error';
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

describe('the tool registry', () => {
  it('lists tools in name order and tells who registered them and where they keep data', () => {
    const registry = createToolRegistry({ dataDirOf: (owner) => `/data/${owner}` });
    registry.registrar('b').register(sampleTool({ name: 'zeta' }));
    registry.registrar('a').register(sampleTool({ name: 'alpha' }));
    expect(registry.list().map(({ spec, owner, dataDir }) => [spec.name, owner, dataDir])).toEqual([
      ['alpha', 'a', '/data/a'],
      ['zeta', 'b', '/data/b'],
    ]);
    expect(registry.get('zeta')?.owner).toBe('b');
    expect(registry.get('other')).toBeUndefined();
  });

  it('keeps the identity of its lists until something changes', () => {
    const registry = createToolRegistry();
    const dispose = registry.registrar('a').register(sampleTool());
    const [list, definitions] = [registry.list(), registry.definitions()];
    expect(registry.list()).toBe(list);
    expect(registry.definitions()).toBe(definitions);
    expect(definitions).toEqual([{ name: 'echo', description: 'Gives back what it got.', parameters: sampleTool().parameters }]);
    dispose();
    expect(registry.definitions()).toEqual([]);
    expect(definitions).toHaveLength(1);
  });

  it('tells listeners when a tool comes or goes, until they stop listening', () => {
    const registry = createToolRegistry();
    const seen: number[] = [];
    const stop = registry.onChange(() => seen.push(registry.list().length));
    const dispose = registry.registrar('a').register(sampleTool());
    dispose();
    dispose();
    stop();
    registry.registrar('a').register(sampleTool());
    expect(seen).toEqual([1, 0]);
  });

  it('keeps a reserved name for its owner, also while that owner is not there', () => {
    const registry = createToolRegistry({ reserved: { plan: 'plan-tool' } });
    expect(codeOf(() => registry.registrar('other').register(sampleTool({ name: 'plan' })))).toBe('tool_name_taken');
    expect(registry.list()).toEqual([]);
    registry.registrar('plan-tool').register(sampleTool({ name: 'plan' }));
    expect(registry.get('plan')?.owner).toBe('plan-tool');
  });

  it('undoes a registration once, and never that of a later tool of the same name', () => {
    const registry = createToolRegistry();
    const dispose = registry.registrar('a').register(sampleTool());
    dispose();
    registry.registrar('b').register(sampleTool());
    dispose();
    expect(registry.get('echo')?.owner).toBe('b');
  });

  it('refuses a name that is taken and names the owner', () => {
    const registry = createToolRegistry();
    registry.registrar('a').register(sampleTool());
    expect(() => registry.registrar('b').register(sampleTool())).toThrow('b: tool "echo" is already registered by a');
    expect(codeOf(() => registry.registrar('b').register(sampleTool()))).toBe('tool_name_taken');
  });

  it.each(['', 'a b', 'a__b', 'ä', 'x'.repeat(65), 7, undefined])('refuses the name %j', (name) => {
    expect(
      codeOf(() =>
        createToolRegistry()
          .registrar('a')
          .register(sampleTool({ name: name as string })),
      ),
    ).toBe('invalid_tool_name');
  });

  it('takes a name of 64 characters', () => {
    expect(
      codeOf(() =>
        createToolRegistry()
          .registrar('a')
          .register(sampleTool({ name: 'x'.repeat(64) })),
      ),
    ).toBe('no error');
  });

  it.each<[string, Partial<Record<keyof ToolSpec, unknown>>]>([
    ['without a description', { description: ' ' }],
    ['without a schema', { parameters: undefined }],
    ['with a schema that is a list', { parameters: [] }],
    ['with a schema of another type', { parameters: { type: 'string' } }],
    ['without execute', { execute: undefined }],
    ['with effects that are no function', { effects: {} }],
    ['with a bound of zero', { maxResultChars: 0 }],
    ['with an endless time limit', { timeoutMs: Number.POSITIVE_INFINITY }],
  ])('refuses a tool %s', (_, changes) => {
    expect(
      codeOf(() =>
        createToolRegistry()
          .registrar('a')
          .register(sampleTool(changes as Partial<ToolSpec>)),
      ),
    ).toBe('invalid_tool');
  });
});
