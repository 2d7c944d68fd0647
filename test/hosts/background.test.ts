import { describe, expect, it } from 'vitest';
import { hasJobs } from '../../hosts/background.ts';
import { offeredPlugins } from '../../hosts/built-ins.ts';
import { PLUGIN_NAMES } from '../../plugins/index.ts';
import type { Services } from '../../ports/plugin.ts';

const background = { enabled: true, max_jobs: 8, max_output_bytes: 1024, max_timeout_seconds: 0, notify: 'observe' } as const;
const tools = { disabled: [] };

describe('whether a host has background jobs', () => {
  it.each([
    ['by default', { background, tools }, undefined, true],
    ['when they are off', { background: { ...background, enabled: false }, tools }, undefined, false],
    ['when shell is disabled', { background, tools: { disabled: ['shell'] } }, undefined, false],
    ['when bg_start is disabled', { background, tools: { disabled: ['bg_start'] } }, undefined, false],
    ['when only shell is wanted', { background, tools: { enabled: ['shell'], disabled: [] } }, undefined, false],
    ['when both are wanted', { background, tools: { enabled: ['shell', 'bg_start'], disabled: [] } }, undefined, true],
    ['in a program that brings no shell', { background, tools }, ['background'] as const, false],
    ['in a program that brings both', { background, tools }, ['background', 'shell'] as const, true],
  ])('%s', (_when, config, builtIns, expected) => {
    expect(hasJobs(config, builtIns)).toBe(expected);
  });
});

describe('the plugins that odek brings', () => {
  it('are left out where the service that they are made for is not there', () => {
    const without = offeredPlugins({});
    expect(PLUGIN_NAMES.filter((name) => !without.includes(name))).toEqual([
      'artifact',
      'background',
      'clarify',
      'plan-tool',
      'skills',
      'web-search',
    ]);
    const all = { plan: {}, jobs: {}, clarifier: {}, artifacts: {}, searchEngine: {}, skillCatalogue: {} } as unknown as Partial<Services>;
    expect(offeredPlugins(all)).toEqual(PLUGIN_NAMES);
    expect(offeredPlugins(all, ['shell', 'clarify'])).toEqual(['shell', 'clarify']);
  });
});
