import type { Dialect } from '../dialects.ts';
import { DIALECTS, inferDialect, isDialectName } from '../dialects.ts';
import type { Service } from '../services.ts';
import { isServiceName, SERVICES, serviceOfAddress } from '../services.ts';
import type { EndpointOptions } from '../wire/endpoint.ts';
import { ENDPOINT_KEYS, parseEndpoint, readProviderOptions } from '../wire/endpoint-options.ts';
import type { WireFeatures } from './request-body.ts';

export interface OpenAiOptions {
  readonly endpoint: EndpointOptions;
  readonly dialect: Dialect;
  readonly doneWithoutFinish: boolean;
  /** Models that need the Responses API get it. */
  readonly mayUseResponses: boolean;
  /** What is sent until the service refuses it. */
  readonly features: WireFeatures;
}

const KNOWN_KEYS = [...ENDPOINT_KEYS, 'dialect', 'reasoning_replay', 'done_without_finish'];

/** Throws `ConfigError` that names the key, the value and the limit. A key's value is never shown. */
export function parseOpenAiOptions(options: Readonly<Record<string, unknown>>): OpenAiOptions {
  const { read, id } = readProviderOptions(options, 'openai', KNOWN_KEYS);
  const given = read.text('base_url');
  const dialectName = read.text('dialect') ?? inferDialect(id, given);
  if (!isDialectName(dialectName)) throw read.fail('dialect', dialectName, `one of ${Object.keys(DIALECTS).join(', ')}`);
  const dialect: Dialect = DIALECTS[dialectName];
  const service = serviceFor(id, given, dialectName);
  const includeReasoning = read.flag('include_reasoning');
  // A gateway that is strict about the one field is strict about the other.
  const replay = includeReasoning === false ? 'never' : dialect.reasoningReplay;
  return {
    endpoint: parseEndpoint(read, id, {
      ...(service === undefined ? {} : { baseUrl: service.baseUrl }),
      keyVariables: [...(service?.keyVariables ?? []), ...(service?.borrowedKeyVariables ?? [])],
    }),
    dialect,
    doneWithoutFinish: read.flag('done_without_finish') ?? dialect.doneWithoutFinish,
    mayUseResponses: dialectName === 'openai',
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

/** The service of the address, else of the id, else of the dialect, for its address and the names of its keys. */
function serviceFor(id: string, baseUrl: string | undefined, dialect: string): Service | undefined {
  const known = baseUrl === undefined ? undefined : serviceOfAddress(baseUrl);
  const name = known ?? [id, dialect].find(isServiceName);
  const service: Service | undefined = name === undefined ? undefined : SERVICES[name];
  return service?.format === 'openai' ? service : undefined;
}
