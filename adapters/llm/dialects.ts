/**
 * What OpenAI-compatible services do differently, as data. A service that is not here is `generic`.
 */

/** Which earlier assistant messages get their reasoning sent back. */
export type ReasoningReplay = 'always' | 'on_tool_calls' | 'never';

export interface Dialect {
  /** Absent for services that have no fixed address. */
  readonly baseUrl?: string;
  /** Environment variables that hold the key, in order of preference. Empty: no key is needed. */
  readonly keyEnv: readonly string[];
  readonly reasoningReplay: ReasoningReplay;
  /** Name of the field that carries reasoning back to the service. */
  readonly reasoningField: 'reasoning_content' | 'reasoning';
  /** Whether the request asks for reasoning with `include_reasoning: true`. */
  readonly includeReasoning: boolean;
  /** Whether `stream_options.include_usage` is understood. */
  readonly streamOptions: boolean;
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** How a thinking level is written; `object_and_effort` sends both `thinking` and `reasoning_effort`. */
  readonly thinking: 'effort' | 'object' | 'object_and_effort';
  /** A reply that ends with `[DONE]` but no finish reason is complete. */
  readonly doneWithoutFinish: boolean;
  /** Model names that the service knows under another name. */
  readonly modelAliases: Readonly<Record<string, string>>;
}

const GENERIC: Dialect = {
  keyEnv: [],
  reasoningReplay: 'on_tool_calls',
  reasoningField: 'reasoning_content',
  includeReasoning: true,
  streamOptions: true,
  maxTokensField: 'max_tokens',
  thinking: 'effort',
  doneWithoutFinish: false,
  modelAliases: {},
};

export const DIALECTS = {
  deepseek: {
    ...GENERIC,
    baseUrl: 'https://api.deepseek.com',
    keyEnv: ['DEEPSEEK_API_KEY', 'OPENAI_API_KEY'],
    includeReasoning: false,
    thinking: 'object_and_effort',
    modelAliases: { 'deepseek-pro': 'deepseek-v4-pro' },
  },
  openai: {
    ...GENERIC,
    baseUrl: 'https://api.openai.com/v1',
    keyEnv: ['OPENAI_API_KEY'],
    reasoningReplay: 'never',
    includeReasoning: false,
    maxTokensField: 'max_completion_tokens',
  },
  zai: {
    ...GENERIC,
    baseUrl: 'https://api.z.ai/api/paas/v4',
    keyEnv: ['ZAI_API_KEY'],
    includeReasoning: false,
    thinking: 'object_and_effort',
  },
  kimi: {
    ...GENERIC,
    baseUrl: 'https://api.moonshot.ai/v1',
    keyEnv: ['KIMI_API_KEY', 'MOONSHOT_API_KEY'],
    includeReasoning: false,
    thinking: 'object',
  },
  ollama: {
    ...GENERIC,
    baseUrl: 'http://127.0.0.1:11434/v1',
    reasoningField: 'reasoning',
    includeReasoning: false,
    doneWithoutFinish: true,
  },
  vllm: { ...GENERIC, baseUrl: 'http://127.0.0.1:8000/v1' },
  'llama.cpp': { ...GENERIC, baseUrl: 'http://127.0.0.1:8080/v1', includeReasoning: false, doneWithoutFinish: true },
  openrouter: {
    ...GENERIC,
    baseUrl: 'https://openrouter.ai/api/v1',
    keyEnv: ['OPENROUTER_API_KEY'],
    reasoningField: 'reasoning',
  },
  generic: GENERIC,
} as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof DIALECTS;

/** Host (with port where it is not the scheme's own) of a base URL → the dialect spoken there. */
export const KNOWN_HOSTS: Readonly<Record<string, DialectName>> = {
  'api.deepseek.com': 'deepseek',
  'api.openai.com': 'openai',
  'api.z.ai': 'zai',
  'open.bigmodel.cn': 'zai',
  'api.moonshot.ai': 'kimi',
  'api.moonshot.cn': 'kimi',
  'openrouter.ai': 'openrouter',
  'localhost:11434': 'ollama',
  '127.0.0.1:11434': 'ollama',
};

export function isDialectName(name: string): name is DialectName {
  return Object.hasOwn(DIALECTS, name);
}

/** The dialect of a provider: by its address, else by its id, else `generic`. */
export function inferDialect(id: string, baseUrl: string | undefined): DialectName {
  const host = baseUrl === undefined ? undefined : URL.parse(baseUrl)?.host;
  const known = host === undefined ? undefined : KNOWN_HOSTS[host];
  if (known !== undefined) return known;
  return isDialectName(id) ? id : 'generic';
}

/** Prefix of a model's name → tokens. The first match counts, so longer prefixes come first. */
const CONTEXT_WINDOWS: readonly (readonly [prefix: string, tokens: number])[] = [
  ['deepseek-v4', 1_000_000],
  ['deepseek-flash', 1_000_000],
  ['deepseek-pro', 1_000_000],
  ['deepseek-', 128_000],
  ['glm-5.3', 1_000_000],
  ['glm-5.2', 1_000_000],
  ['glm-5-turbo', 200_000],
  ['glm-', 128_000],
  ['kimi-', 256_000],
  ['k3-256k', 256_000],
  ['k3', 1_000_000],
  ['gpt-6', 1_050_000],
  ['gpt-5.6', 1_050_000],
  ['gpt-5.5', 1_050_000],
  ['gpt-5.4-mini', 400_000],
  ['gpt-5.4-nano', 400_000],
  ['gpt-5.4', 1_050_000],
  ['gpt-5', 400_000],
  ['gpt-4.1', 1_050_000],
  ['gpt-4o', 128_000],
  ['gpt-4-turbo', 128_000],
  ['o4', 200_000],
  ['o3', 200_000],
  ['o1', 200_000],
];

/** Tokens of a model's context window, or undefined when it is not known. A vendor prefix (`openai/…`) is ignored. */
export function contextWindowOf(model: string): number | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  return CONTEXT_WINDOWS.find(([prefix]) => name.startsWith(prefix))?.[1];
}
