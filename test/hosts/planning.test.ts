import { describe, expect, it } from 'vitest';
import { firstPartyOf, isPlanning } from '../../hosts/planning.ts';

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
