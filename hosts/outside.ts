import { PROVIDERS } from '../adapters/llm/index.ts';
import { SINKS } from '../adapters/sinks/index.ts';
import type { LoadedAdapters } from './adapters.ts';
import { BUILT_IN_PROVIDERS, LEGACY } from './config/providers.ts';
import type { ResolvedConfig } from './config/types.ts';

/** The adapters that the operator's configuration names; nothing is loaded where it names none. */
export async function outsideAdapters(config: ResolvedConfig): Promise<LoadedAdapters> {
  if (config.adapters.length === 0) return { providers: new Map(), sinks: new Map() };
  const { loadAdapters } = await import('./adapters.ts');
  const providers = [...Object.keys(PROVIDERS), ...BUILT_IN_PROVIDERS.map((provider) => provider.id), LEGACY.id];
  return loadAdapters(config.adapters, {
    configFile: config.state.configFile,
    taken: { 'llm-provider': providers, 'event-sink': Object.keys(SINKS) },
  });
}
