import { createSchemaValidator } from '../../adapters/schema/ajv.ts';
import { definePlugin, defineTool, type Plugin, type ToolSpec } from '../../ports/plugin.ts';
import type { PluginHarness } from './plugin.suite.ts';
import type { BrokenAdapter } from './suite.ts';

/** A tool that keeps the contract, but for `changes`. */
export function sampleTool(changes: Partial<ToolSpec> = {}): ToolSpec {
  return {
    ...defineTool<{ text: string; times?: number }>({
      name: 'echo',
      description: 'Gives back what it got.',
      parameters: { type: 'object', properties: { text: { type: 'string' }, times: { type: 'integer', minimum: 1 } }, required: ['text'] },
      effects: () => ({}),
      execute: async ({ text }) => text,
    }),
    ...changes,
  };
}

export const samplePlugin: Plugin = definePlugin({
  name: 'sample',
  inject: ['tools'],
  apply: ({ tools }) => void tools.register(sampleTool()),
});

const FAULTS: readonly (readonly [name: string, caughtBy: string, apply: Plugin['apply']])[] = [
  [
    'registers a tool after it settled',
    'registers-in-time',
    ({ tools }) => {
      tools.register(sampleTool());
      setTimeout(() => tools.register(sampleTool({ name: 'late' })), 5);
    },
  ],
  [
    'uses a service that it did not inject',
    'asks-only-for-injected',
    ({ tools, logger }) => {
      logger.log('info', 'hello');
      tools.register(sampleTool());
    },
  ],
  [
    'can be applied once',
    'disposal',
    (() => {
      let used = false;
      return ({ tools }) => {
        if (!used) tools.register(sampleTool());
        used = true;
      };
    })(),
  ],
  ['hardly describes its tool', 'describes-tools', ({ tools }) => void tools.register(sampleTool({ description: 'echo' }))],
  [
    'has a schema that does not compile',
    'describes-tools',
    ({ tools }) => void tools.register(sampleTool({ parameters: { type: 'object', properties: { text: { $ref: '#/$defs/missing' } } } })),
  ],
  [
    'has effects that want an optional field',
    'effects',
    ({ tools }) =>
      void tools.register(sampleTool({ effects: ((input: { times: number }) => ({ reads: [input.times.toFixed(0)] })) as never })),
  ],
];

/** Plugins that each break one sentence. */
export const brokenPlugins: readonly BrokenAdapter<PluginHarness>[] = FAULTS.map(([name, caughtBy, apply]) => ({
  name,
  caughtBy: `plugin/${caughtBy}`,
  harness: {
    plugin: { name: 'broken', inject: ['tools'], apply },
    services: { logger: { log: () => {} } },
    validator: createSchemaValidator(),
  },
}));
