import assert from 'node:assert/strict';
import { type AppliedPlugins, applyPlugins, type PluginHostOptions } from '../../core/plugins/host.ts';
import { createToolRegistry, type ToolRegistry } from '../../core/plugins/registry.ts';
import type { JsonSchema } from '../../ports/message.ts';
import type { Plugin, ToolSpec } from '../../ports/plugin.ts';
import type { SchemaValidator } from '../../ports/schema.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

/** A plugin and what its host would offer it. */
export interface PluginHarness {
  readonly plugin: Plugin;
  readonly services: PluginHostOptions['services'];
  readonly validator: SchemaValidator;
  /** Its configuration; `{}` when absent. */
  readonly config?: unknown;
}

interface Applied {
  readonly registry: ToolRegistry;
  readonly plugins: AppliedPlugins;
}

async function applied(harness: PluginHarness, registry: ToolRegistry = createToolRegistry()): Promise<Applied> {
  const { plugin, services, validator, config = {} } = harness;
  const plugins = await applyPlugins([plugin], { registry, services, validator, configs: { [plugin.name]: config } });
  return { registry, plugins };
}

function namesOf(registry: ToolRegistry): readonly string[] {
  return registry.list().map(({ spec }) => spec.name);
}

/** Inputs made from a schema: only what is required, and everything. */
export function sampleInputs(schema: JsonSchema): readonly unknown[] {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, JsonSchema>>;
  const required = new Set((schema.required ?? []) as readonly string[]);
  const entries = Object.entries(properties).map(([name, property]) => [name, sampleOf(property)] as const);
  return [Object.fromEntries(entries.filter(([name]) => required.has(name))), Object.fromEntries(entries)];
}

function sampleOf(schema: JsonSchema): unknown {
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.type === 'integer' || schema.type === 'number') return Number(schema.minimum ?? 1);
  if (schema.type === 'boolean') return true;
  if (schema.type === 'array') return [sampleOf((schema.items ?? {}) as JsonSchema)];
  if (schema.type === 'object') return sampleInputs(schema)[1];
  return 'text'.padEnd(Number(schema.minLength ?? 0), 'x');
}

function withTools(
  id: string,
  sentence: string,
  check: (applied: Applied, harness: PluginHarness) => Promise<void>,
): ContractCase<PluginHarness> {
  return {
    id: `plugin/${id}`,
    sentence,
    async run(harness) {
      const live = await applied(harness);
      try {
        await check(live, harness);
      } finally {
        await live.plugins.dispose();
      }
    },
  };
}

const toolsOf = ({ registry }: Applied): readonly ToolSpec[] => registry.list().map(({ spec }) => spec);

/** The contract of {@link Plugin}. */
export const pluginSuite: ContractSuite<PluginHarness> = {
  port: 'Plugin',
  cases: [
    withTools(
      'registers-in-time',
      '`apply` registers everything it offers before it settles, and only through its context',
      async ({ registry }, { plugin }) => {
        const before = namesOf(registry);
        assert.ok(before.length > 0, 'nothing was registered');
        await new Promise((resolve) => setTimeout(resolve, 30));
        assert.deepEqual(namesOf(registry), before);
        assert.ok(registry.list().every(({ owner }) => owner === plugin.name));
      },
    ),
    withTools('asks-only-for-injected', 'it asks for no service that it does not name in `inject`', async ({ registry }, { plugin }) => {
      assert.ok(namesOf(registry).length > 0, `${plugin.name} was applied with the services that it names`);
    }),
    {
      id: 'plugin/disposal',
      sentence: 'what it registered is gone after its owner disposed it; applying it again works',
      async run(harness) {
        const registry = createToolRegistry();
        const first = await applied(harness, registry);
        const names = namesOf(registry);
        await first.plugins.dispose();
        assert.deepEqual(namesOf(registry), []);
        const second = await applied(harness, registry);
        assert.deepEqual(namesOf(registry), names);
        await second.plugins.dispose();
      },
    },
    withTools('describes-tools', 'every tool has a description and an object schema that compiles', async (live, { validator }) => {
      for (const tool of toolsOf(live)) {
        assert.ok(tool.description.trim().length >= 10, `${tool.name} is described`);
        assert.equal(tool.parameters.type, 'object');
        const check = await validator.compile(tool.parameters);
        assert.ok(check('not an object').length > 0, `${tool.name} takes anything`);
      }
    }),
    withTools('effects', '`effects` does not throw for an input that its schema accepts', async (live, { validator }) => {
      for (const tool of toolsOf(live)) {
        const check = await validator.compile(tool.parameters);
        for (const input of sampleInputs(tool.parameters).filter((sample) => check(sample).length === 0)) tool.effects?.(input as never);
      }
    }),
  ],
};
