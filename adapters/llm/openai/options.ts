import type { Dialect } from '../dialects.ts';
import { DIALECTS, inferDialect, isDialectName } from '../dialects.ts';
import { readOptions } from '../options.ts';
import type { WireFeatures } from './request-body.ts';

export interface OpenAiOptions {
  readonly id: string;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly dialect: Dialect;
  readonly doneWithoutFinish: boolean;
  readonly maxBytes: number;
  readonly keyHint: string;
  /** What is sent until the service refuses it. */
  readonly features: WireFeatures;
}

const KNOWN_KEYS = [
  'id',
  'format',
  'base_url',
  'api_key',
  'dialect',
  'include_reasoning',
  'reasoning_replay',
  'done_without_finish',
  'max_response_bytes',
];

const MAX_RESPONSE_BYTES = 50 * 1024 * 1024;
const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Throws `ConfigError` that names the key, the value and the limit. A key's value is never shown. */
export function parseOpenAiOptions(options: Readonly<Record<string, unknown>>): OpenAiOptions {
  const name = typeof options.id === 'string' ? options.id : 'openai';
  const read = readOptions(`provider "${name}"`, options, KNOWN_KEYS);
  const id = read.requiredText('id');
  if (!ID.test(id)) throw read.fail('id', id, '1 to 64 letters, digits, dots, dashes or underscores');
  read.choice('format', ['openai']);
  const given = read.text('base_url');
  const dialectName = read.text('dialect') ?? inferDialect(id, given);
  if (!isDialectName(dialectName)) throw read.fail('dialect', dialectName, `one of ${Object.keys(DIALECTS).join(', ')}`);
  const dialect: Dialect = DIALECTS[dialectName];
  const baseUrl = checkBaseUrl(given ?? dialect.baseUrl, (value, limit) => read.fail('base_url', value, limit));
  const apiKey = read.text('api_key');
  const includeReasoning = read.flag('include_reasoning');
  // A gateway that is strict about the one field is strict about the other.
  const replay = includeReasoning === false ? 'never' : dialect.reasoningReplay;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) throw read.fail('api_key', apiKey, 'printable ASCII without spaces');
  return {
    id,
    baseUrl,
    apiKey,
    dialect,
    doneWithoutFinish: read.flag('done_without_finish') ?? dialect.doneWithoutFinish,
    maxBytes: read.count('max_response_bytes', 1024, MAX_RESPONSE_BYTES) ?? MAX_RESPONSE_BYTES,
    keyHint: keyHint(id, apiKey !== undefined, dialect.keyEnv),
    features: {
      stream: true,
      streamOptions: dialect.streamOptions,
      includeReasoning: includeReasoning ?? dialect.includeReasoning,
      temperature: true,
      maxTokensField: dialect.maxTokensField,
      reasoningReplay: read.choice('reasoning_replay', ['always', 'on_tool_calls', 'never']) ?? replay,
      fillReasoning: false,
    },
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

function keyHint(id: string, hasKey: boolean, keyEnv: readonly string[]): string {
  const ways = [...keyEnv.slice(0, 1), 'ODEK_API_KEY'].join(' or ');
  return `${hasKey ? 'Check the key' : 'No key is set'}: set ${ways} in the environment, or providers.${id}.api_key in the configuration`;
}
