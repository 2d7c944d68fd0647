import { describe, expect, it } from 'vitest';
import { firstPartyOf, foreignOf, isPlanning } from '../../hosts/planning.ts';
import { definePlugin } from '../../ports/plugin.ts';

const planning = { enabled: true, max_steps: 12, max_render_chars: 2000 };
const tools = { disabled: [] };

describe('whether a host plans', () => {
  it.each([
    ['by default', { planning, tools }, undefined, true],
    ['when planning is off', { planning: { ...planning, enabled: false }, tools }, undefined, false],
    ['when the tool is disabled', { planning, tools: { disabled: ['plan'] } }, undefined, false],
    ['when only other tools are wanted', { planning, tools: { enabled: ['read_file'], disabled: [] } }, undefined, false],
    ['when it is among the wanted ones', { planning, tools: { enabled: ['plan'], disabled: [] } }, undefined, true],
    ['in a program that brings other tools', { planning, tools }, ['files'] as const, false],
    ['in a program that brings it', { planning, tools }, ['plan-tool'] as const, true],
  ])('%s', (_when, config, builtIns, expected) => {
    expect(isPlanning(config, builtIns)).toBe(expected);
  });
});

describe('whose declared effects are believed', () => {
  it('are the plugins that odek brings, where they are there', () => {
    expect(['files', 'shell', 'plan-tool', 'weather'].map(firstPartyOf())).toEqual([true, true, true, false]);
    expect(['files', 'shell'].map(firstPartyOf(['files']))).toEqual([true, false]);
  });
});

describe("whose tools are a third party's", () => {
  it("are those that are neither odek's own nor handed over by the embedding program", () => {
    const weather = definePlugin({ name: 'weather', apply: () => undefined });
    expect(['files', 'weather', 'other'].map(foreignOf(undefined, [weather]))).toEqual([false, false, true]);
    expect(['files', 'shell', 'weather'].map(foreignOf(['files']))).toEqual([false, true, true]);
  });
});
