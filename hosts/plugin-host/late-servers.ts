import type { McpServer } from '../../ports/mcp.ts';

/** Connects one server; what it resolves with ends it. */
export type ConnectServer = (server: McpServer, plugin: string, signal: AbortSignal) => Promise<() => Promise<void>>;

/** Servers that plugins bring. They are connected where a person can be asked, which is at the beginning of a turn. */
export interface LateServers {
  /** Asks for a server. The disposer takes it back, connected or not. */
  add(server: McpServer, plugin: string): () => void;
  /** Connects what waits. Never rejects: a server that does not come is told and left out. */
  connect(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

interface Wanted {
  readonly server: McpServer;
  readonly plugin: string;
  readonly gone: AbortController;
}

export function createLateServers(connectServer: ConnectServer, warn: (text: string) => void): LateServers {
  const waiting = new Set<Wanted>();
  const open = new Map<Wanted, () => Promise<void>>();
  const closing = new AbortController();

  const connectOne = async (wanted: Wanted, signal: AbortSignal): Promise<void> => {
    const { server, plugin, gone } = wanted;
    try {
      const end = await connectServer(server, plugin, AbortSignal.any([signal, gone.signal, closing.signal]));
      if (gone.signal.aborted || closing.signal.aborted) await end();
      else open.set(wanted, end);
    } catch (error) {
      if (gone.signal.aborted || closing.signal.aborted) return;
      // A turn that was cancelled is no fault of the server: the next one tries again.
      if (signal.aborted) waiting.add(wanted);
      else
        warn(`MCP server "${server.name}" of extension:${plugin} is left out: ${error instanceof Error ? error.message : String(error)}`);
    }
  };

  return {
    add(server, plugin) {
      const wanted: Wanted = { server, plugin, gone: new AbortController() };
      waiting.add(wanted);
      return () => {
        wanted.gone.abort();
        waiting.delete(wanted);
        void open
          .get(wanted)?.()
          .catch(() => {});
        open.delete(wanted);
      };
    },
    async connect(signal) {
      const next = [...waiting];
      waiting.clear();
      await Promise.all(next.map((wanted) => connectOne(wanted, signal)));
    },
    async close() {
      closing.abort();
      await Promise.allSettled([...open.values()].map((end) => end()));
      open.clear();
    },
  };
}
