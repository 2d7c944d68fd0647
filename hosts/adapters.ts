import { readFileSync } from 'node:fs';
import { createRequire, findPackageJSON, registerHooks } from 'node:module';
import { dirname, isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AdapterDefinition, AdapterPorts, AdapterServices } from '../ports/adapter.ts';
import { ConfigError, isOdekError } from '../ports/errors.ts';

/** Most entries of `adapters`. */
export const MAX_ADAPTERS = 32;
/** Milliseconds one adapter file may take to load, and one `create` to settle. */
export const ADAPTER_TIMEOUT_MS = 10_000;

const NAME = /^[a-z0-9-]{1,64}$/;

/** The methods that a created adapter must have. */
const MEMBERS: Readonly<Record<keyof AdapterPorts, readonly string[]>> = {
  'llm-provider': ['stream', 'limits', 'close'],
  'event-sink': ['accept', 'close'],
};

export type DefinitionOf<P extends keyof AdapterPorts> = Extract<AdapterDefinition, { readonly port: P }>;

/** Adapters from outside the repository, by name. */
export interface LoadedAdapters {
  readonly providers: ReadonlyMap<string, DefinitionOf<'llm-provider'>>;
  readonly sinks: ReadonlyMap<string, DefinitionOf<'event-sink'>>;
}

export interface LoadAdaptersOptions {
  /** The operator's configuration file; relative paths and package names are found from its folder. */
  readonly configFile: string;
  /** Names that odek's own registries hold, by port. */
  readonly taken: Readonly<Record<keyof AdapterPorts, readonly string[]>>;
  /** Milliseconds for each file; {@link ADAPTER_TIMEOUT_MS} unless given. */
  readonly timeoutMs?: number;
}

/**
 * Loads what the operator's `adapters` names: paths (`./x.mjs`, `/abs/x.ts`) or package names, at
 * most {@link MAX_ADAPTERS}. Each must have a `defineAdapter` value as its default export. Throws
 * {@link ConfigError} `adapter_not_found`, `adapter_failed`, `invalid_adapter`, `adapter_name_taken`
 * or `too_many_adapters`.
 */
export async function loadAdapters(names: readonly string[], options: LoadAdaptersOptions): Promise<LoadedAdapters> {
  if (names.length > MAX_ADAPTERS) {
    throw new ConfigError('too_many_adapters', `adapters: ${names.length} entries, the limit is ${MAX_ADAPTERS}`, {
      value: names.length,
      limit: MAX_ADAPTERS,
    });
  }
  const providers = new Map<string, DefinitionOf<'llm-provider'>>();
  const sinks = new Map<string, DefinitionOf<'event-sink'>>();
  for (const name of names) {
    const definition = checkDefinition(name, await importAdapter(name, options));
    const known = definition.port === 'llm-provider' ? providers : sinks;
    if (options.taken[definition.port].includes(definition.name) || known.has(definition.name)) {
      throw new ConfigError('adapter_name_taken', `adapters: "${name}" calls itself "${definition.name}", a name that is taken`, {
        value: definition.name,
      });
    }
    if (definition.port === 'llm-provider') providers.set(definition.name, definition);
    else sinks.set(definition.name, definition);
  }
  return { providers, sinks };
}

/**
 * Makes the adapter and checks that it has its port's methods. Throws {@link ConfigError}
 * `adapter_failed` when `create` throws or takes longer than `timeoutMs`, `invalid_adapter` when
 * it made something else. An odek error of the adapter's own is passed on.
 */
export async function createAdapter<P extends keyof AdapterPorts>(
  definition: DefinitionOf<P>,
  options: Readonly<Record<string, unknown>>,
  services: AdapterServices,
  timeoutMs: number = ADAPTER_TIMEOUT_MS,
): Promise<AdapterPorts[P]> {
  const { name, port } = definition;
  const made: unknown = await bounded(`adapter "${name}"`, timeoutMs, async () => definition.create(options, services));
  const missing = MEMBERS[port].filter((member) => typeof (made as Record<string, unknown> | null | undefined)?.[member] !== 'function');
  if (missing.length > 0) {
    throw new ConfigError('invalid_adapter', `adapter "${name}": create() gave no ${port}, it lacks ${missing.join(', ')}`, {
      value: name,
    });
  }
  return made as AdapterPorts[P];
}

async function importAdapter(name: string, { configFile, timeoutMs = ADAPTER_TIMEOUT_MS }: LoadAdaptersOptions): Promise<unknown> {
  const file = locate(name, configFile);
  const hooks = lendOwnPackage();
  try {
    const loaded = await bounded(`adapters: "${name}"`, timeoutMs, async () => (await import(pathToFileURL(file).href)) as object);
    return (loaded as { readonly default?: unknown }).default;
  } finally {
    hooks.deregister();
  }
}

/**
 * Lets a file that has no `odek` in reach, such as one beside the configuration, import the running
 * one. A package refers to itself by its name, so asking as a file of ours is enough.
 */
function lendOwnPackage(): { deregister(): void } {
  return registerHooks({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        if (!/^odek(\/|$)/.test(specifier)) throw error;
        return next(specifier, { ...context, parentURL: import.meta.url });
      }
    },
  });
}

/** Absolute path of an entry's file. */
function locate(name: string, configFile: string): string {
  const isPath = isAbsolute(name) || /^\.{1,2}[/\\]/.test(name);
  try {
    // `resolve` of a path checks that the file is there; of a package, it reads its `exports`.
    return createRequire(configFile).resolve(isPath ? resolve(dirname(configFile), name) : name);
  } catch (cause) {
    const file = isPath ? undefined : importOnlyEntry(name, configFile);
    if (file !== undefined) return file;
    throw new ConfigError('adapter_not_found', `adapters: "${name}" was not found from ${dirname(configFile)}`, { value: name, cause });
  }
}

/** Entry of a package whose `exports` know only the `import` condition, which `require.resolve` cannot see. */
function importOnlyEntry(name: string, configFile: string): string | undefined {
  try {
    const manifest = findPackageJSON(name, pathToFileURL(configFile));
    if (manifest === undefined) return undefined;
    const { exports } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly exports?: unknown };
    const entry = importTarget(exports);
    return entry === undefined ? undefined : resolve(dirname(manifest), entry);
  } catch {
    return undefined;
  }
}

function importTarget(exports: unknown): string | undefined {
  if (typeof exports === 'string') return exports;
  if (typeof exports !== 'object' || exports === null) return undefined;
  const { '.': root, import: imported, default: fallback } = exports as Readonly<Record<string, unknown>>;
  return importTarget(root ?? imported ?? fallback);
}

function checkDefinition(entry: string, value: unknown): AdapterDefinition {
  const reject = (what: string, seen?: unknown): never => {
    throw new ConfigError('invalid_adapter', `adapters: "${entry}" ${what}`, { value: seen ?? entry });
  };
  if (typeof value !== 'object' || value === null) return reject('has no default export made by defineAdapter');
  const { port, name, create } = value as Readonly<Record<string, unknown>>;
  if (typeof port !== 'string' || !Object.hasOwn(MEMBERS, port)) {
    return reject(`fills the port ${JSON.stringify(port)}; the ports are ${Object.keys(MEMBERS).join(', ')}`, port);
  }
  if (typeof name !== 'string' || !NAME.test(name))
    return reject(`has the name ${JSON.stringify(name)}; a name is 1 to 64 of [a-z0-9-]`, name);
  if (typeof create !== 'function') return reject('has no create function');
  return value as AdapterDefinition;
}

/** Waits for foreign code at most `timeoutMs`. The timer is cleared, so that it delays no exit. */
async function bounded<T>(what: string, timeoutMs: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new ConfigError('adapter_failed', `${what} did not load within ${timeoutMs} ms`, { value: what, limit: timeoutMs })),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([work(), late]);
  } catch (cause) {
    if (isOdekError(cause)) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ConfigError('adapter_failed', `${what} failed: ${reason.slice(0, 500)}`, { value: what, cause });
  } finally {
    clearTimeout(timer);
  }
}
