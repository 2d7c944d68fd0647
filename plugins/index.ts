import type { Plugin } from '../ports/plugin.ts';

/** First-party plugins by name. Each loader imports its plugin only when it is asked for. */
export const PLUGINS = {
  about: async () => (await import('./about/index.ts')).default,
  artifact: async () => (await import('./artifact/index.ts')).default,
  background: async () => (await import('./background/index.ts')).default,
  calc: async () => (await import('./calc/index.ts')).default,
  clarify: async () => (await import('./clarify/index.ts')).default,
  files: async () => (await import('./files/index.ts')).default,
  inspect: async () => (await import('./inspect/index.ts')).default,
  'plan-tool': async () => (await import('./plan-tool/index.ts')).default,
  'session-search': async () => (await import('./session-search/index.ts')).default,
  shell: async () => (await import('./shell/index.ts')).default,
  skills: async () => (await import('./skills/index.ts')).default,
  web: async () => (await import('./web/index.ts')).default,
  'web-search': async () => (await import('./web/search.ts')).default,
} as const satisfies Record<string, () => Promise<Plugin>>;

export type PluginName = keyof typeof PLUGINS;

export const PLUGIN_NAMES = Object.keys(PLUGINS) as readonly PluginName[];

/** Imports the named plugins, in the order given; all of them by default. */
export function loadPlugins(names: readonly PluginName[] = PLUGIN_NAMES): Promise<readonly Plugin[]> {
  return Promise.all(names.map((name) => PLUGINS[name]()));
}
