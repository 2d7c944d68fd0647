import { SERVICES } from '../services.ts';
import type { EndpointOptions } from '../wire/endpoint.ts';
import { ENDPOINT_KEYS, parseEndpoint, readProviderOptions } from '../wire/endpoint-options.ts';

export interface AnthropicOptions {
  readonly endpoint: EndpointOptions;
  /** Tokens, for models that think by a budget. */
  readonly thinkingBudget: number;
  /** Mark the head of the conversation for the service's cache. */
  readonly promptCaching: boolean;
  /** Send earlier reasoning back. */
  readonly replay: boolean;
}

const KNOWN_KEYS = [...ENDPOINT_KEYS, 'thinking_budget', 'prompt_caching'];
const DEFAULT_BUDGET = 5_000;
/** The least that the service takes. */
export const MIN_BUDGET = 1_024;

/** Throws `ConfigError` that names the key, the value and the limit. A key's value is never shown. */
export function parseAnthropicOptions(options: Readonly<Record<string, unknown>>): AnthropicOptions {
  const { read, id } = readProviderOptions(options, 'anthropic', KNOWN_KEYS);
  return {
    endpoint: parseEndpoint(read, id, SERVICES.anthropic),
    thinkingBudget: read.count('thinking_budget', MIN_BUDGET, 1_000_000) ?? DEFAULT_BUDGET,
    promptCaching: read.flag('prompt_caching') ?? true,
    replay: read.flag('include_reasoning') ?? true,
  };
}
