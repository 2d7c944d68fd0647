import { PLUGIN_NAMES, type PluginName } from '../plugins/index.ts';
import type { Services } from '../ports/plugin.ts';

/** Plugins that are left out where the service that they are made for is not there. */
const MADE_FOR = {
  artifact: 'artifacts',
  'plan-tool': 'plan',
  background: 'jobs',
  clarify: 'clarifier',
  skills: 'skillCatalogue',
  'web-search': 'searchEngine',
} as const satisfies Readonly<Partial<Record<PluginName, keyof Services>>>;

/** The first-party plugins of a host, in the order in which they were named. */
export function offeredPlugins(services: Partial<Services>, wanted: readonly PluginName[] = PLUGIN_NAMES): readonly PluginName[] {
  return wanted.filter((name) => {
    const needed = (MADE_FOR as Partial<Record<PluginName, keyof Services>>)[name];
    return needed === undefined || services[needed] !== undefined;
  });
}
