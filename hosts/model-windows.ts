import type { Clock } from '../ports/clock.ts';
import type { LlmProvider, ModelEvent, ModelInfo, ModelLimits } from '../ports/llm.ts';

/** Where a context window was found, strongest first. */
export type WindowSource = 'config' | 'table' | 'discovery' | 'unknown';

export interface ResolvedWindow {
  /** Tokens; absent when nobody knows. */
  readonly tokens?: number;
  readonly source: WindowSource;
}

/** The window of a model: as configured (0: not), as the built-in table has it, as the service tells it. */
export function resolveWindow(configured: number, table: ModelLimits, listed: ModelLimits | undefined): ResolvedWindow {
  if (configured > 0) return { tokens: configured, source: 'config' };
  if (table.contextWindow !== undefined) return { tokens: table.contextWindow, source: 'table' };
  if (listed?.contextWindow !== undefined) return { tokens: listed.contextWindow, source: 'discovery' };
  return { source: 'unknown' };
}

const DISCOVERY_TIMEOUT_MS = 10_000;

/**
 * The provider with `limits` that also know what is configured and what the service tells. The
 * service is asked once, after the first answer of a model whose window nobody knows, so that no
 * answer waits for it; a service that does not tell is not asked again.
 */
export function withWindows(
  provider: LlmProvider,
  { configured, clock }: { readonly configured: number; readonly clock: Clock },
): LlmProvider {
  const closing = new AbortController();
  let listed: ReadonlyMap<string, ModelInfo> | undefined;

  const limits = (model: string): ModelLimits => {
    const table = provider.limits(model);
    const { tokens } = resolveWindow(configured, table, listed?.get(model));
    return { ...table, ...(tokens === undefined ? {} : { contextWindow: tokens }) };
  };
  const discover = async (models: NonNullable<LlmProvider['models']>): Promise<void> => {
    listed = new Map();
    const timeout = new AbortController();
    const stop = clock.after(DISCOVERY_TIMEOUT_MS, () => timeout.abort());
    try {
      const found = await models(AbortSignal.any([closing.signal, timeout.signal]));
      listed = new Map(found.map((model) => [model.id, model]));
    } catch {
      // The run goes on without: an answer that does not fit says so.
    } finally {
      stop();
    }
  };
  return {
    ...provider,
    async *stream(request, signal): AsyncGenerator<ModelEvent> {
      yield* provider.stream(request, signal);
      if (listed !== undefined || provider.models === undefined || limits(request.model).contextWindow !== undefined) return;
      void discover(provider.models);
    },
    limits,
    async close() {
      closing.abort();
      await provider.close();
    },
  };
}
