import type { ProviderFormat } from './types.ts';

/** A provider that odek knows by name. */
export interface BuiltInProvider {
  readonly id: string;
  readonly format: ProviderFormat;
  readonly baseUrl: string;
  /** Hosts that name this provider when only an address is given. */
  readonly hosts: readonly string[];
  /** Environment variables that may hold its key, first one first. */
  readonly keyVariables: readonly string[];
  /** Variables that are tried when the own ones are empty and the provider was named. */
  readonly borrowedKeyVariables?: readonly string[];
  readonly defaultModel?: string;
}

/** In the order in which a key in the environment names the provider. */
export const BUILT_IN_PROVIDERS: readonly BuiltInProvider[] = [
  {
    id: 'deepseek',
    format: 'openai',
    baseUrl: 'https://api.deepseek.com',
    hosts: ['api.deepseek.com'],
    keyVariables: ['DEEPSEEK_API_KEY'],
    borrowedKeyVariables: ['OPENAI_API_KEY'],
    defaultModel: 'deepseek-v4-flash',
  },
  {
    id: 'openai',
    format: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    hosts: ['api.openai.com'],
    keyVariables: ['OPENAI_API_KEY'],
  },
  {
    id: 'anthropic',
    format: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    hosts: ['api.anthropic.com'],
    keyVariables: ['ANTHROPIC_API_KEY'],
  },
  {
    id: 'gemini',
    format: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com',
    hosts: ['generativelanguage.googleapis.com'],
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  },
  {
    id: 'zai',
    format: 'openai',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    hosts: ['api.z.ai'],
    keyVariables: ['ZAI_API_KEY'],
  },
  {
    id: 'kimi',
    format: 'openai',
    baseUrl: 'https://api.moonshot.ai/v1',
    hosts: ['api.moonshot.ai', 'api.moonshot.cn'],
    keyVariables: ['KIMI_API_KEY', 'MOONSHOT_API_KEY'],
  },
];

/** An unknown address without a name: OpenAI format, any of these keys, or none. */
export const LEGACY = { id: 'legacy', keyVariables: ['DEEPSEEK_API_KEY', 'OPENAI_API_KEY'] } as const;

/** Formats that this version can speak. */
export const SPOKEN_FORMATS: readonly ProviderFormat[] = ['openai'];

export function builtIn(id: string): BuiltInProvider | undefined {
  return BUILT_IN_PROVIDERS.find((provider) => provider.id === id);
}

/** The provider that an address belongs to. */
export function providerOfHost(address: string): BuiltInProvider | undefined {
  const host = URL.canParse(address) ? new URL(address).hostname : undefined;
  return BUILT_IN_PROVIDERS.find((provider) => host !== undefined && provider.hosts.includes(host));
}

export function isSpoken(provider: BuiltInProvider): boolean {
  return SPOKEN_FORMATS.includes(provider.format);
}
