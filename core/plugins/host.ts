import type { Clock } from '../../ports/clock.ts';
import { DeadlineError, isOdekError } from '../../ports/errors.ts';
import { type Disposer, type Plugin, PluginError, type ServiceName, type Services, type ToolRegistrar } from '../../ports/plugin.ts';
import type { SchemaValidator } from '../../ports/schema.ts';
import type { ToolRegistry } from './registry.ts';

export interface PluginHostOptions {
  /** Live services by name; `tools` is made from `registry`. A service that is absent cannot be injected. */
  readonly services: Readonly<Partial<Omit<Services, 'tools'>>>;
  /** `plugins.<name>.config` by plugin name. Absent: `{}`. */
  readonly configs: Readonly<Record<string, unknown>>;
  readonly validator: SchemaValidator;
  readonly registry: ToolRegistry;
  /** With it, an `apply` that does not settle within `applyTimeoutMs` fails. */
  readonly clock?: Clock;
  /** Milliseconds; default 10 000. */
  readonly applyTimeoutMs?: number;
}

export interface AppliedPlugins {
  /** Labels of what is owned, in the order it was made, for example `files: tool read_file`. */
  effects(): readonly string[];
  /** Undoes everything in reverse order. Idempotent; one effect that throws does not stop the others. */
  dispose(): Promise<void>;
}

interface Effect {
  readonly label: string;
  readonly undo: Disposer;
}

const DEFAULT_APPLY_TIMEOUT_MS = 10_000;
/** Errors that already name the plugin and what to correct. */
const TOLD_AS_IS = new Set(['tool_name_taken', 'invalid_tool_name', 'invalid_tool', 'service_not_injected', 'service_unavailable']);
/** Asked for by the language or by tools that look at a value, not by plugins. */
const UNASKED = new Set(['then', 'toJSON', 'constructor']);

/**
 * Applies plugins in order. Each one gets a context with exactly the services it injects; what it
 * registers is owned here. When one fails, everything applied so far is undone and the call rejects
 * with {@link PluginError} `plugin_failed`, `invalid_plugin_config`, `service_unavailable` or the
 * registration error itself, naming the plugin.
 */
export async function applyPlugins(plugins: readonly Plugin[], options: PluginHostOptions): Promise<AppliedPlugins> {
  const effects: Effect[] = [];
  const names = new Set<string>();
  let closed = false;
  const dispose = async () => {
    closed = true;
    undoAll(effects, options);
  };
  try {
    for (const plugin of plugins) {
      if (names.has(plugin.name)) throw new PluginError('plugin_failed', `plugin "${plugin.name}" is listed twice`, { value: plugin.name });
      names.add(plugin.name);
      const config = await checkedConfig(plugin, options);
      const context = contextOf(
        plugin,
        options,
        ownedRegistrar(plugin.name, options.registry, effects, () => closed),
      );
      await settle(plugin, () => plugin.apply(context, config), options);
    }
  } catch (error) {
    await dispose();
    throw error;
  }
  return { effects: () => effects.map((effect) => effect.label), dispose };
}

async function checkedConfig(plugin: Plugin, options: PluginHostOptions): Promise<unknown> {
  const config = Object.hasOwn(options.configs, plugin.name) ? options.configs[plugin.name] : {};
  if (!plugin.Config) return config;
  const check = await compileConfig(plugin, options.validator);
  const issues = check(config);
  if (issues.length === 0) return config;
  const told = issues.map((issue) => `${issue.path || 'config'} ${issue.message}`).join('; ');
  throw new PluginError('invalid_plugin_config', `plugin "${plugin.name}": plugins.${plugin.name}.config is not valid: ${told}`, {
    value: plugin.name,
  });
}

async function compileConfig(plugin: Plugin, validator: SchemaValidator) {
  try {
    return await validator.compile(plugin.Config ?? {});
  } catch (cause) {
    throw new PluginError('invalid_plugin_config', `plugin "${plugin.name}": its Config is not a usable JSON Schema: ${textOf(cause)}`, {
      cause,
    });
  }
}

function contextOf(plugin: Plugin, options: PluginHostOptions, tools: ToolRegistrar): Pick<Services, ServiceName> {
  const available: Partial<Services> = { ...options.services, tools };
  const injected: Record<string, unknown> = Object.create(null);
  for (const name of plugin.inject ?? []) {
    const service = Object.hasOwn(available, name) ? available[name as ServiceName] : undefined;
    if (service === undefined) {
      throw new PluginError('service_unavailable', `plugin "${plugin.name}" injects "${String(name)}", which is not available here`, {
        value: name,
      });
    }
    injected[name] = service;
  }
  return new Proxy(Object.freeze(injected), {
    get(target, key) {
      if (typeof key === 'symbol' || UNASKED.has(key) || Object.hasOwn(target, key)) return Reflect.get(target, key);
      throw new PluginError('service_not_injected', `plugin "${plugin.name}" uses "${key}" without naming it in inject`, { value: key });
    },
  }) as unknown as Pick<Services, ServiceName>;
}

function ownedRegistrar(owner: string, registry: ToolRegistry, effects: Effect[], isClosed: () => boolean): ToolRegistrar {
  const registrar = registry.registrar(owner);
  return {
    register(tool) {
      if (isClosed())
        throw new PluginError('service_unavailable', `plugin "${owner}" was disposed and cannot register tools any more`, { value: owner });
      const effect: Effect = { label: `${owner}: tool ${tool.name}`, undo: registrar.register(tool) };
      effects.push(effect);
      return () => {
        const index = effects.indexOf(effect);
        if (index < 0) return;
        effects.splice(index, 1);
        effect.undo();
      };
    },
  };
}

async function settle(plugin: Plugin, apply: () => void | Promise<void>, options: PluginHostOptions): Promise<void> {
  const limit = options.applyTimeoutMs ?? DEFAULT_APPLY_TIMEOUT_MS;
  let stopTimer: Disposer | undefined;
  const late = new Promise<never>((_, reject) => {
    stopTimer = options.clock?.after(limit, () => reject(new DeadlineError(`did not settle within ${limit} ms`, { limit })));
  });
  try {
    await Promise.race([(async () => apply())(), late]);
  } catch (cause) {
    if (isOdekError(cause) && TOLD_AS_IS.has(cause.code)) throw cause;
    throw new PluginError('plugin_failed', `plugin "${plugin.name}" failed: ${textOf(cause)}`, { value: plugin.name, cause });
  } finally {
    stopTimer?.();
  }
}

function undoAll(effects: Effect[], options: PluginHostOptions): void {
  for (let effect = effects.pop(); effect; effect = effects.pop()) {
    try {
      effect.undo();
    } catch (error) {
      options.services.logger?.log('warning', `undoing "${effect.label}" failed: ${textOf(error)}`);
    }
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
