import { describe, expect, it } from 'vitest';
import { conflicts } from '../../../core/agent/conflicts.ts';
import type { ReadyCall } from '../../../core/agent/prepare.ts';
import type { RegisteredTool } from '../../../core/plugins/registry.ts';
import type { ToolEffects } from '../../../ports/plugin.ts';
import { sampleTool } from '../../contracts/plugin.broken.ts';

const tool = (ordered: boolean): RegisteredTool => ({ owner: 'o', dataDir: '/d', spec: sampleTool(ordered ? { ordered } : {}) });
const call = (registered: RegisteredTool, effects: ToolEffects): ReadyCall => ({
  call: { id: 'c', name: registered.spec.name, arguments: '{}' },
  tool: registered,
  input: {},
  effects,
});

describe('two calls of one response', () => {
  it('of an ordered tool follow each other, whatever they touch', () => {
    const browser = tool(true);
    expect(conflicts(call(browser, { hosts: ['a'] }), call(browser, {}), '/w')).toBe(true);
  });

  it('of two ordered tools, or of one that is not ordered, run side by side', () => {
    expect(conflicts(call(tool(true), {}), call(tool(true), {}), '/w')).toBe(false);
    const plain = tool(false);
    expect(conflicts(call(plain, { hosts: ['a'] }), call(plain, { hosts: ['a'] }), '/w')).toBe(false);
  });

  it('follow each other where one writes what the other touches, and where one changes another host', () => {
    const plain = tool(false);
    expect(conflicts(call(plain, { reads: ['a/b'] }), call(plain, { writes: ['./a'] }), '/w')).toBe(true);
    expect(conflicts(call(plain, { hosts: ['a'], uploads: true }), call(plain, {}), '/w')).toBe(true);
  });
});
