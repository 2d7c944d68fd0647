import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { applyPlugins } from '../../../core/plugins/host.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import type { Plugin, ToolExecution } from '../../../ports/plugin.ts';
import { openStage, RUNTIMES, type Stage } from '../../adapters/extension-host/stage.ts';
import { type PluginHarness, pluginSuite } from '../../contracts/plugin.suite.ts';

const FIXTURES = { greeter: { greeting: 'Good day' }, counter: {} } as const;
const never = new AbortController().signal;
const fixture = (name: string): string => fileURLToPath(new URL(`../../adapters/extension-host/fixtures/${name}.mjs`, import.meta.url));

/** A plugin whose code runs in a host; what it registers there is registered here. */
function inChild(stage: Stage, name: string): Plugin {
  return {
    name,
    inject: ['tools'],
    async apply(ctx, config) {
      const before = new Set(stage.live.keys());
      const params = stage.place(name, { 'main.mjs': readFileSync(fixture(name), 'utf8') }, { config });
      const result = await stage.host.activate(params, never);
      if (result.status !== 'ok') throw new Error(result.entries[0]?.diagnostic);
      for (const [handle, spec] of stage.live) {
        if (before.has(handle) || spec.kind !== 'tool') continue;
        const { description, input_schema: parameters } = spec;
        const execute = (input: unknown, exec: ToolExecution) =>
          stage.host.call(
            { method: 'tool/call', params: { handle, call_id: exec.callId, input, workspace: exec.workspace }, deadlineMs: 10_000 },
            exec.signal,
          ).result;
        ctx.tools.register({ name: spec.name, description, parameters, execute });
      }
    },
  };
}

async function inProcess(name: string): Promise<Plugin> {
  const module = (await import(/* @vite-ignore */ fixture(name))) as Plugin & { readonly default?: Plugin };
  return module.default ?? module;
}

type Outcome = string;

/** What some calls give, one after the other. */
async function outcomes(plugin: Plugin, config: unknown): Promise<readonly Outcome[]> {
  const registry = createToolRegistry();
  const applied = await applyPlugins([plugin], {
    registry,
    services: { logger: { log() {} } },
    validator: createSchemaValidator(),
    configs: { [plugin.name]: config },
  });
  const told: Outcome[] = registry.list().map(({ spec }) => `${spec.name} ${JSON.stringify(spec.parameters)}`);
  for (const input of [{ name: 'Ada' }, { name: 'Bo', by: 9 }, { by: 50 }, { by: 60 }]) {
    for (const { spec } of registry.list()) {
      const exec: ToolExecution = { signal: never, callId: 'call-7', args: input, workspace: '/project', dataDir: '/data' };
      const result = await spec.execute(input as never, exec).catch((error: Error) => `threw ${error.message}`);
      told.push(JSON.stringify(typeof result === 'string' ? { content: result, failed: false } : result).replace('threw ', ''));
    }
  }
  await applied.dispose();
  return told;
}

describe.each(RUNTIMES.map((node, index) => ({ node, name: `runtime ${index + 1}` })))(
  'plugins that inject only shared services, in $name',
  ({ node }) => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await openStage({ node });
    });
    afterAll(() => stage.close());

    describe.each(Object.entries(FIXTURES))('%s', (name, config) => {
      const harness = async (plugin: Plugin): Promise<PluginHarness> => ({
        plugin,
        config,
        services: { logger: { log() {} } },
        validator: createSchemaValidator(),
      });

      test.each(pluginSuite.cases)('in process: $sentence', async ({ run }) => run(await harness(await inProcess(name))));
      test.each(pluginSuite.cases)('in a host: $sentence', async ({ run }) => run(await harness(inChild(stage, name))));
      test('give the same in both places', async () => {
        expect(await outcomes(inChild(stage, name), config)).toEqual(await outcomes(await inProcess(name), config));
      });
    });
  },
);
