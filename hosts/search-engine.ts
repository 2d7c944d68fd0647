import type { SearchEngine } from '../ports/plugin.ts';
import type { ResolvedConfig } from './config/types.ts';
import { endpointProxy } from './network.ts';

/** The configured search engine, over a client that reaches its host and no other (DECISIONS 13); undefined where none is configured. */
export async function openSearchEngine({
  network,
  web_search: config,
}: Pick<ResolvedConfig, 'network' | 'web_search'>): Promise<SearchEngine | undefined> {
  if (config.base_url === undefined) return undefined;
  const { createHttpClient, hostPort } = await import('../adapters/http/index.ts');
  const url = new URL(config.base_url);
  return {
    baseUrl: config.base_url,
    categories: config.categories,
    language: config.language,
    maxResults: config.max_results,
    timeoutMs: config.timeout_seconds * 1000,
    http: createHttpClient({ mode: 'operator', allowHosts: [hostPort(url)], ...endpointProxy({ network }, url) }),
  };
}
