import { SERVICES } from '../services.ts';
import type { EndpointOptions } from '../wire/endpoint.ts';
import { ENDPOINT_KEYS, parseEndpoint, readProviderOptions } from '../wire/endpoint-options.ts';

export interface GeminiOptions {
  readonly endpoint: EndpointOptions;
  /** Send the signatures of earlier thoughts back. */
  readonly replay: boolean;
}

/** Throws `ConfigError` that names the key, the value and the limit. A key's value is never shown. */
export function parseGeminiOptions(options: Readonly<Record<string, unknown>>): GeminiOptions {
  const { read, id } = readProviderOptions(options, 'gemini', ENDPOINT_KEYS);
  return { endpoint: parseEndpoint(read, id, SERVICES.gemini), replay: read.flag('include_reasoning') ?? true };
}
