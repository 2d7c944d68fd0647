/**
 * The services that odek knows by name: where they are, how they are spoken to, where their key is.
 * The one place for these facts; dialects, inference and the docs read it.
 */

/** Wire formats over HTTP. */
export type WireFormatName = 'openai' | 'openai-responses' | 'anthropic' | 'gemini';

export interface Service {
  readonly format: WireFormatName;
  readonly baseUrl: string;
  /** Hosts, with the port where it is not the scheme's own, that belong to the service. */
  readonly hosts: readonly string[];
  /** Environment variables that may hold its key, first one first. Empty: no key is needed. */
  readonly keyVariables: readonly string[];
  /** Variables that are tried when the own ones are empty and the service was named. */
  readonly borrowedKeyVariables?: readonly string[];
  readonly defaultModel?: string;
}

/** In the order in which a key in the environment names the service. */
export const SERVICES = {
  deepseek: {
    format: 'openai',
    baseUrl: 'https://api.deepseek.com',
    hosts: ['api.deepseek.com'],
    keyVariables: ['DEEPSEEK_API_KEY'],
    borrowedKeyVariables: ['OPENAI_API_KEY'],
    defaultModel: 'deepseek-v4-flash',
  },
  openai: {
    format: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    hosts: ['api.openai.com'],
    keyVariables: ['OPENAI_API_KEY'],
  },
  anthropic: {
    format: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    hosts: ['api.anthropic.com'],
    keyVariables: ['ANTHROPIC_API_KEY'],
  },
  gemini: {
    format: 'gemini',
    baseUrl: 'https://generativelanguage.googleapis.com',
    hosts: ['generativelanguage.googleapis.com'],
    keyVariables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
  },
  zai: {
    format: 'openai',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    hosts: ['api.z.ai', 'open.bigmodel.cn'],
    keyVariables: ['ZAI_API_KEY'],
  },
  kimi: {
    format: 'openai',
    baseUrl: 'https://api.moonshot.ai/v1',
    hosts: ['api.moonshot.ai', 'api.moonshot.cn'],
    keyVariables: ['KIMI_API_KEY', 'MOONSHOT_API_KEY'],
  },
  openrouter: {
    format: 'openai',
    baseUrl: 'https://openrouter.ai/api/v1',
    hosts: ['openrouter.ai'],
    keyVariables: ['OPENROUTER_API_KEY'],
  },
  ollama: {
    format: 'openai',
    baseUrl: 'http://127.0.0.1:11434/v1',
    hosts: ['127.0.0.1:11434', 'localhost:11434'],
    keyVariables: [],
  },
  vllm: { format: 'openai', baseUrl: 'http://127.0.0.1:8000/v1', hosts: [], keyVariables: [] },
  'llama.cpp': { format: 'openai', baseUrl: 'http://127.0.0.1:8080/v1', hosts: [], keyVariables: [] },
} as const satisfies Record<string, Service>;

export type ServiceName = keyof typeof SERVICES;

export function isServiceName(name: string): name is ServiceName {
  return Object.hasOwn(SERVICES, name);
}

/** The service that an address belongs to. */
export function serviceOfAddress(address: string): ServiceName | undefined {
  const host = URL.parse(address)?.host;
  if (host === undefined) return undefined;
  const found = Object.entries<Service>(SERVICES).find(([, service]) => service.hosts.includes(host));
  return found?.[0] as ServiceName | undefined;
}
