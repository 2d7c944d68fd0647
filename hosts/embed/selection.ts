import type { LlmProvider } from '../../ports/llm.ts';
import { providerOfHost } from '../config/providers.ts';
import { selectProvider } from '../config/select.ts';
import type { ProviderSelection, ResolvedConfig } from '../config/types.ts';

/** The endpoint of an embedded agent: its live provider, else what the configuration names. Throws `ConfigError`. */
export function inferSelection(config: ResolvedConfig, provider: LlmProvider | undefined): ProviderSelection {
  if (provider) return { id: provider.name, include_reasoning: true, model: config.model ?? provider.name };
  const id = config.provider ?? (config.base_url === undefined ? undefined : (providerOfHost(config.base_url) ?? { id: 'legacy' }).id);
  return selectProvider(id === undefined ? config : { ...config, provider: id });
}
