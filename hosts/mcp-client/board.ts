import type { ToolRegistry } from '../../core/plugins/registry.ts';
import { CancelledError } from '../../ports/errors.ts';
import type { CataloguedServer } from '../../ports/tool-catalogue.ts';

/** What is known of MCP servers where their tools are listed, and the one who closes them. Empty until `open`. */
export interface McpBoard {
  servers(): readonly CataloguedServer[];
  /** The registry as a run sees it: what servers changed is put in place where the tools are told to a model, never in between. */
  watch(registry: ToolRegistry): ToolRegistry;
  /** Opens what stands behind this, once. `close` ends it, also in the middle of opening. */
  open(work: (signal: AbortSignal) => Promise<McpBoardSource>): Promise<void>;
  /** Adds what was opened elsewhere, beside the configured servers. What it resolves with takes it out and closes it. */
  join(source: McpBoardSource): () => Promise<void>;
  /** Idempotent. Never rejects. */
  close(): Promise<void>;
}

export interface McpBoardSource {
  servers(): readonly CataloguedServer[];
  /** Puts changes that wait in place. */
  settle(): void;
  /** Tells of changes that begin to wait. Returns what stops the telling. */
  onPending(listener: () => void): () => void;
  close(): Promise<void>;
}

export function createMcpBoard(): McpBoard {
  const ending = new AbortController();
  const listeners = new Set<() => void>();
  const sources = new Set<McpBoardSource>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  let opening: Promise<void> | undefined;
  return {
    servers: () => [...sources].flatMap((source) => source.servers()),
    watch: (registry) => ({
      ...registry,
      definitions() {
        for (const source of sources) source.settle();
        return registry.definitions();
      },
      onChange(listener) {
        const own = (): void => listener();
        listeners.add(own);
        const stop = registry.onChange(own);
        return () => {
          listeners.delete(own);
          stop();
        };
      },
    }),
    open(work) {
      opening ??= (async () => {
        if (ending.signal.aborted) throw new CancelledError();
        const source = await work(ending.signal);
        sources.add(source);
        source.onPending(tell);
      })();
      return opening;
    },
    join(source) {
      sources.add(source);
      const stop = source.onPending(tell);
      return async () => {
        stop();
        sources.delete(source);
        await source.close();
      };
    },
    async close() {
      ending.abort();
      await opening?.catch(() => {});
      await Promise.allSettled([...sources].map((source) => source.close()));
    },
  };
}
