import { describe, expect, it } from 'vitest';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { applyPlugins, type PluginHostOptions } from '../../../core/plugins/host.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import { hasCode } from '../../../ports/errors.ts';
import type { Plugin, ToolRegistrar } from '../../../ports/plugin.ts';
import { sampleTool } from '../../contracts/plugin.broken.ts';
import { createManualClock } from '../../fakes/clock.ts';

const validator = createSchemaValidator();

function host(changes: Partial<PluginHostOptions> = {}) {
  const registry = createToolRegistry();
  const options: PluginHostOptions = { services: {}, configs: {}, validator, registry, ...changes };
  return { registry, apply: (...plugins: readonly Plugin[]) => applyPlugins(plugins, options) };
}

const plugin = (name: string, apply: Plugin['apply'], more: Partial<Plugin> = {}): Plugin => ({ name, inject: ['tools'], apply, ...more });
const offering = (name: string, ...tools: readonly string[]): Plugin =>
  plugin(name, ({ tools: registrar }) => {
    for (const tool of tools) registrar.register(sampleTool({ name: tool }));
  });

describe('applying plugins', () => {
  it('owns what they register, by label, and undoes it', async () => {
    const { registry, apply } = host();
    const applied = await apply(offering('a', 'one', 'two'), offering('b', 'three'));
    expect(applied.effects()).toEqual(['a: tool one', 'a: tool two', 'b: tool three']);
    await applied.dispose();
    await applied.dispose();
    expect(registry.list()).toEqual([]);
    expect(applied.effects()).toEqual([]);
  });

  it('undoes in reverse order, and one effect that throws stops no other', async () => {
    const undone: string[] = [];
    const said: string[] = [];
    const registry = createToolRegistry();
    const spying = {
      ...registry,
      registrar: (): ToolRegistrar => ({
        register:
          ({ name }) =>
          () => {
            if (name === 'two') throw new Error('stuck');
            undone.push(name);
          },
      }),
    };
    const services = { logger: { log: (_: string, message: string) => void said.push(message) } };
    await (await host({ registry: spying, services }).apply(offering('a', 'one', 'two', 'three'))).dispose();
    expect(undone).toEqual(['three', 'one']);
    expect(said).toEqual(['undoing "a: tool two" failed: stuck']);
  });

  it('leaves nothing behind when one of them throws, and names it', async () => {
    const { registry, apply } = host();
    const failing = plugin('b', ({ tools }) => {
      tools.register(sampleTool({ name: 'two' }));
      throw new Error('no luck');
    });
    await expect(apply(offering('a', 'one'), failing)).rejects.toSatisfy(
      (error) => hasCode(error, 'plugin_failed') && error.message === 'plugin "b" failed: no luck',
    );
    expect(registry.list()).toEqual([]);
  });

  it('tells a registration error as it is', async () => {
    await expect(host().apply(offering('a', 'one'), offering('b', 'one'))).rejects.toSatisfy((error) => hasCode(error, 'tool_name_taken'));
  });

  it('refuses two plugins of one name', async () => {
    await expect(host().apply(offering('a', 'one'), offering('a', 'two'))).rejects.toThrow('plugin "a" is listed twice');
  });

  it('gives up on one that never settles, and takes nothing from it afterwards', async () => {
    const clock = createManualClock();
    const { registry, apply } = host({ clock, applyTimeoutMs: 500 });
    let late: ToolRegistrar | undefined;
    const applying = apply(
      plugin('slow', ({ tools }) => {
        late = tools;
        return new Promise(() => {});
      }),
    );
    const outcome = expect(applying).rejects.toThrow('plugin "slow" failed: did not settle within 500 ms');
    await clock.advance(501);
    await outcome;
    expect(() => late?.register(sampleTool())).toThrow('plugin "slow" was disposed');
    expect(registry.list()).toEqual([]);
    expect(clock.pending()).toBe(0);
  });
});

describe('a context', () => {
  const logger = { log: () => {} };

  it('holds the injected services and throws for others', async () => {
    const seen: unknown[] = [];
    const curious = plugin(
      'curious',
      (ctx) => {
        seen.push(Object.keys(ctx), ctx.logger);
        void ctx.fs;
      },
      { inject: ['tools', 'logger'] },
    );
    await expect(host({ services: { logger } }).apply(curious)).rejects.toSatisfy((error) => hasCode(error, 'service_not_injected'));
    expect(seen).toEqual([['tools', 'logger'], logger]);
  });

  it('cannot hold a service that this host does not have', async () => {
    await expect(host().apply(plugin('a', () => {}, { inject: ['http'] }))).rejects.toSatisfy((error) =>
      hasCode(error, 'service_unavailable'),
    );
  });

  it('cannot be changed by the plugin', async () => {
    const vandal = plugin('vandal', (ctx) => {
      (ctx as { tools: unknown }).tools = undefined;
    });
    await expect(host().apply(vandal)).rejects.toSatisfy((error) => hasCode(error, 'plugin_failed'));
  });
});

describe('a configuration', () => {
  const configured = (seen: unknown[]): Plugin =>
    plugin('a', (_, config) => void seen.push(config), {
      Config: { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] },
    });

  it('reaches its plugin once it was checked', async () => {
    const seen: unknown[] = [];
    await host({ configs: { a: { size: 3 }, other: 1 } }).apply(configured(seen));
    expect(seen).toEqual([{ size: 3 }]);
  });

  it('that is not valid stops the plugin before it is applied', async () => {
    const seen: unknown[] = [];
    const applying = host({ configs: { a: { size: 'large' } } }).apply(configured(seen));
    await expect(applying).rejects.toSatisfy(
      (error) => hasCode(error, 'invalid_plugin_config') && error.message.includes('plugins.a.config') && error.message.includes('/size'),
    );
    await expect(host().apply(configured(seen))).rejects.toSatisfy((error) => hasCode(error, 'invalid_plugin_config'));
    expect(seen).toEqual([]);
  });

  it('schema that does not compile is told as the fault of the plugin', async () => {
    await expect(host().apply(plugin('a', () => {}, { Config: { type: 'nonsense' } }))).rejects.toSatisfy((error) =>
      hasCode(error, 'invalid_plugin_config'),
    );
  });
});
