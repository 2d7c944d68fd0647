import { isServiceName, serviceOfAddress } from './services.ts';

/**
 * What OpenAI-compatible services do differently, as data. A service that is not here is `generic`.
 * Where the services are stands in `services.ts`.
 */

/** Which earlier assistant messages get their reasoning sent back. */
export type ReasoningReplay = 'always' | 'on_tool_calls' | 'never';

export interface Dialect {
  readonly reasoningReplay: ReasoningReplay;
  /** Name of the field that carries reasoning back to the service. */
  readonly reasoningField: 'reasoning_content' | 'reasoning';
  /** Whether the request asks for reasoning with `include_reasoning: true`. */
  readonly includeReasoning: boolean;
  /** Whether `stream_options.include_usage` is understood. */
  readonly streamOptions: boolean;
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /**
   * How a thinking level is written: `reasoning_effort`, `reasoning: {effort}`, `thinking: {type}`, the
   * last one with `reasoning_effort`, or a switch of the chat template.
   */
  readonly thinking: 'effort' | 'reasoning_object' | 'object' | 'object_and_effort' | 'template';
  /** A reply that ends with `[DONE]` but no finish reason is complete. */
  readonly doneWithoutFinish: boolean;
  /** Longest id of a tool call that the service takes; absent where there is no such limit. */
  readonly maxCallId?: number;
  /** Where a server tells the window it runs with, below its origin; absent: in its list of models. */
  readonly windowPath?: string;
  /** Model names that the service knows under another name. */
  readonly modelAliases: Readonly<Record<string, string>>;
}

const GENERIC: Dialect = {
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
    includeReasoning: false,
    thinking: 'object_and_effort',
    modelAliases: { 'deepseek-pro': 'deepseek-v4-pro' },
  },
  openai: {
    ...GENERIC,
    reasoningReplay: 'never',
    includeReasoning: false,
    maxTokensField: 'max_completion_tokens',
    maxCallId: 40,
  },
  zai: { ...GENERIC, includeReasoning: false, thinking: 'object_and_effort' },
  kimi: { ...GENERIC, includeReasoning: false, thinking: 'object' },
  ollama: { ...GENERIC, reasoningField: 'reasoning', includeReasoning: false, doneWithoutFinish: true },
  vllm: { ...GENERIC, reasoningField: 'reasoning', thinking: 'template' },
  'llama.cpp': { ...GENERIC, includeReasoning: false, doneWithoutFinish: true, thinking: 'template', windowPath: '/props' },
  openrouter: { ...GENERIC, reasoningField: 'reasoning', thinking: 'reasoning_object' },
  generic: GENERIC,
} as const satisfies Record<string, Dialect>;

export type DialectName = keyof typeof DIALECTS;

export function isDialectName(name: string): name is DialectName {
  return Object.hasOwn(DIALECTS, name);
}

/** The dialect of a provider: by its address, else by its id, else `generic`. */
export function inferDialect(id: string, baseUrl: string | undefined): DialectName {
  const known = baseUrl === undefined ? undefined : serviceOfAddress(baseUrl);
  const name = known ?? (isServiceName(id) ? id : 'generic');
  return isDialectName(name) ? name : 'generic';
}
