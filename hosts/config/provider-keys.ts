import { BUILT_IN_PROVIDERS } from './providers.ts';

/** The variable that gives a key whatever the provider is. */
export const GENERAL_KEY = 'ODEK_API_KEY';

/** Every variable that may hold a key, in the order in which providers are inferred from them. */
export const KEY_VARIABLES: readonly string[] = [GENERAL_KEY, ...BUILT_IN_PROVIDERS.flatMap((provider) => provider.keyVariables)];

const takenFrom = new WeakMap<object, Map<string, string>>();

/**
 * Moves the key variables out of `env`, so that no child process and no tool sees them, and returns
 * them by name. What was taken from the same object earlier is remembered, so that the configuration
 * can be loaded again; a variable that was set anew replaces it.
 */
export function takeProviderKeys(env: Readonly<Record<string, string | undefined>>): ReadonlyMap<string, string> {
  const taken = takenFrom.get(env) ?? new Map<string, string>();
  takenFrom.set(env, taken);
  for (const name of KEY_VARIABLES) {
    const value = env[name];
    if (value === undefined) continue;
    if (value.trim() !== '') taken.set(name, value.trim());
    Reflect.deleteProperty(env, name);
  }
  return taken;
}
