import { createHttpClient, hostPort } from '../adapters/http/index.ts';
import { PROVIDERS } from '../adapters/llm/index.ts';
import { guardProvider } from '../core/guards/provider.ts';
import type { Redactor } from '../core/redact/redactor.ts';
import type { AdapterServices } from '../ports/adapter.ts';
import type { Clock } from '../ports/clock.ts';
import { ConfigError } from '../ports/errors.ts';
import type { Ids } from '../ports/ids.ts';
import type { LlmProvider } from '../ports/llm.ts';
import type { LoadedAdapters } from './adapters.ts';
import type { Edges, HostEnvironment } from './environment.ts';

const MAX_RESPONSE_BYTES = 50 * 1024 * 1024;

/** The client that reaches the configured endpoint and nothing else (DECISIONS 13). */
function endpointClient({ selection }: HostEnvironment) {
  return createHttpClient({
    mode: 'operator',
    allowHosts: selection.base_url === undefined ? [] : [hostPort(new URL(selection.base_url))],
  });
}

/** The options object of odek's own formats. */
function ownOptions({ selection }: HostEnvironment): Record<string, unknown> {
  return {
    id: selection.id,
    ...(selection.base_url !== undefined && { base_url: selection.base_url }),
    ...(selection.api_key !== undefined && { api_key: selection.api_key }),
    ...(!selection.include_reasoning && { include_reasoning: false }),
  };
}

/** What an adapter of the operator's gets: its `options` first, then what was resolved. */
function outsideOptions({ selection, config }: HostEnvironment): Record<string, unknown> {
  return {
    ...config.providers[selection.id]?.options,
    model: selection.model,
    ...(selection.base_url !== undefined && { base_url: selection.base_url }),
    ...(selection.api_key !== undefined && { api_key: selection.api_key }),
  };
}

/** A recording, one of odek's own formats, or an adapter of the operator's, in this order. */
async function makeProvider(environment: HostEnvironment, adapters: LoadedAdapters, services: AdapterServices): Promise<LlmProvider> {
  const { selection, replayFile } = environment;
  if (replayFile !== undefined) {
    const { default: replay } = await PROVIDERS.replay();
    return replay.create({ file: replayFile }, services);
  }
  if (selection.format === 'openai') {
    const { default: openai } = await PROVIDERS.openai();
    return openai.create(ownOptions(environment), services);
  }
  const outside = adapters.providers.get(selection.id);
  if (!outside) {
    const names = [...adapters.providers.keys()].join(', ') || 'none';
    throw new ConfigError('unknown_provider', `provider "${selection.id}" is not known; adapters bring: ${names}`, { value: selection.id });
  }
  const { createAdapter } = await import('./adapters.ts');
  return createAdapter<'llm-provider'>(outside, outsideOptions(environment), services);
}

async function recorded(
  provider: LlmProvider,
  file: string | undefined,
  redactor: Redactor,
  services: AdapterServices,
): Promise<LlmProvider> {
  if (file === undefined) return provider;
  const { default: record } = await PROVIDERS.record();
  return record.create({ file, provider, redact: redactor.text }, services);
}

/** The provider of this host, recorded where `--record` asks for it, behind core's guard. */
export async function createProvider(
  environment: HostEnvironment,
  adapters: LoadedAdapters,
  redactor: Redactor,
  clock: Clock,
  ids: Ids,
  edges: Edges,
): Promise<LlmProvider> {
  const http = endpointClient(environment);
  const services: AdapterServices = { clock, http, log: edges.log };
  const made = edges.provider ?? (await makeProvider(environment, adapters, services));
  const provider = await recorded(made, environment.recordFile, redactor, services);
  const { llm } = environment.config;
  const guarded = guardProvider(provider, {
    clock,
    ids,
    requestTimeoutMs: llm.request_timeout_seconds * 1000,
    idleTimeoutMs: llm.stream_idle_timeout_seconds * 1000,
    maxResponseBytes: MAX_RESPONSE_BYTES,
    onRetry: ({ attempt, delayMs, error }) =>
      edges.log('warning', `the model call failed (${error.code}); try ${attempt + 1} in ${Math.round(delayMs / 100) / 10} s`),
  });
  return {
    ...guarded,
    limits: (model) => ({ ...guarded.limits(model), ...(llm.context_window > 0 && { contextWindow: llm.context_window }) }),
    close: async () => {
      await guarded.close();
      await http.close();
    },
  };
}
