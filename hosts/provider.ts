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
import { withWindows } from './model-windows.ts';
import { endpointProxy } from './network.ts';

const MAX_RESPONSE_BYTES = 50 * 1024 * 1024;

/** What making a provider needs to know of a host. */
export type ProviderEnvironment = Pick<HostEnvironment, 'config' | 'selection' | 'replayFile' | 'recordFile'>;

/** The client that reaches the configured endpoint and nothing else (DECISIONS 13). */
function endpointClient({ config, selection }: ProviderEnvironment) {
  const url = selection.base_url === undefined ? null : new URL(selection.base_url);
  return createHttpClient({ mode: 'operator', allowHosts: url === null ? [] : [hostPort(url)], ...endpointProxy(config, url) });
}

/** The options object of odek's own formats. */
function ownOptions({ selection, config }: ProviderEnvironment): Record<string, unknown> {
  const own = config.providers[selection.id];
  if (selection.format === 'local') return { ...own?.options };
  return {
    id: selection.id,
    ...(selection.base_url !== undefined && { base_url: selection.base_url }),
    ...(selection.api_key !== undefined && { api_key: selection.api_key }),
    ...(!selection.include_reasoning && { include_reasoning: false }),
    ...(selection.format === 'openai' && {
      ...(own?.dialect !== undefined && { dialect: own.dialect }),
      ...(own?.done_without_finish !== undefined && { done_without_finish: own.done_without_finish }),
      ...(own?.reasoning_replay !== undefined && { reasoning_replay: own.reasoning_replay }),
    }),
    ...(selection.format === 'anthropic' && { thinking_budget: config.thinking_budget, prompt_caching: config.prompt_caching }),
  };
}

/** What an adapter of the operator's gets: its `options` first, then what was resolved. */
function outsideOptions({ selection, config }: ProviderEnvironment): Record<string, unknown> {
  return {
    ...config.providers[selection.id]?.options,
    model: selection.model,
    ...(selection.base_url !== undefined && { base_url: selection.base_url }),
    ...(selection.api_key !== undefined && { api_key: selection.api_key }),
  };
}

/** A recording, one of odek's own formats, or an adapter of the operator's, in this order. */
async function makeProvider(environment: ProviderEnvironment, adapters: LoadedAdapters, services: AdapterServices): Promise<LlmProvider> {
  const { selection, replayFile } = environment;
  if (replayFile !== undefined) {
    const { default: replay } = await PROVIDERS.replay();
    return replay.create({ file: replayFile }, services);
  }
  if (selection.format !== undefined) {
    const { default: own } = await PROVIDERS[selection.format]();
    return own.create(ownOptions(environment), services);
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
  environment: ProviderEnvironment,
  adapters: LoadedAdapters,
  redactor: Redactor,
  clock: Clock,
  ids: Ids,
  edges: Pick<Edges, 'provider' | 'log'>,
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
  const known = withWindows(guarded, { configured: llm.context_window, clock });
  return {
    ...known,
    close: async () => {
      await known.close();
      await http.close();
    },
  };
}
