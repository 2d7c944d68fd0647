import type { OptionReader } from '../options.ts';
import { readOptions } from '../options.ts';
import type { EndpointOptions } from './endpoint.ts';

/** Keys that every format over HTTP takes. */
export const ENDPOINT_KEYS = ['id', 'format', 'base_url', 'api_key', 'include_reasoning', 'max_response_bytes'] as const;

const MAX_RESPONSE_BYTES = 50 * 1024 * 1024;
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export interface EndpointDefaults {
  readonly baseUrl?: string;
  /** Environment variables that hold the key, in order of preference. */
  readonly keyVariables: readonly string[];
}

/** A reader of a provider's options and the provider's id. Throws `ConfigError` for a key that is not in `known`. */
export function readProviderOptions(
  options: Readonly<Record<string, unknown>>,
  format: string,
  known: readonly string[],
): { readonly read: OptionReader; readonly id: string } {
  const name = typeof options.id === 'string' ? options.id : format;
  const read = readOptions(`provider "${name}"`, options, known);
  const id = read.requiredText('id');
  if (!ID.test(id)) throw read.fail('id', id, '1 to 64 letters, digits, dots, dashes or underscores');
  read.choice('format', [format]);
  return { read, id };
}

/** Address, key and size limit. Throws `ConfigError` that names the key, the value and the limit; a key's value is never shown. */
export function parseEndpoint(read: OptionReader, id: string, defaults: EndpointDefaults): EndpointOptions {
  const apiKey = read.text('api_key');
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) throw read.fail('api_key', apiKey, 'printable ASCII without spaces');
  return {
    id,
    baseUrl: checkBaseUrl(read.text('base_url') ?? defaults.baseUrl, (value, limit) => read.fail('base_url', value, limit)),
    apiKey,
    keyHint: keyHint(id, apiKey !== undefined, defaults.keyVariables),
    maxBytes: read.count('max_response_bytes', 1024, MAX_RESPONSE_BYTES) ?? MAX_RESPONSE_BYTES,
  };
}

function checkBaseUrl(value: string | undefined, fail: (value: unknown, limit: string) => Error): string {
  const limit = 'an http or https URL without user name, query and fragment';
  const url = value === undefined ? null : URL.parse(value);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) throw fail(value, limit);
  if (url.username !== '' || url.password !== '') throw fail('(a URL with a user name)', limit);
  if (url.search !== '' || url.hash !== '') throw fail(`${url.origin}${url.pathname}`, limit);
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function keyHint(id: string, hasKey: boolean, variables: readonly string[]): string {
  const ways = [...variables.slice(0, 1), 'ODEK_API_KEY'].join(' or ');
  return `${hasKey ? 'Check the key' : 'No key is set'}: set ${ways} in the environment, or providers.${id}.api_key in the configuration`;
}
