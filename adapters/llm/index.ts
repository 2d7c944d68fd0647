import type { AdapterDefinition } from '../../ports/adapter.ts';

/** The definition that a provider's module has as its default export. */
export type LlmProviderDefinition = Extract<AdapterDefinition, { port: 'llm-provider' }>;

/** Every provider format that odek brings. A module is loaded when its provider is asked for. */
export const PROVIDERS = {
  openai: () => import('./openai.ts'),
  'openai-responses': () => import('./openai-responses.ts'),
  anthropic: () => import('./anthropic.ts'),
  gemini: () => import('./gemini.ts'),
  local: () => import('./local.ts'),
  replay: () => import('./replay.ts'),
  record: () => import('./record.ts'),
} satisfies Record<string, () => Promise<{ readonly default: LlmProviderDefinition }>>;

export type ProviderFormat = keyof typeof PROVIDERS;
