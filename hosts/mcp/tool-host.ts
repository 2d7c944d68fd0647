import { createToolRunner, type RanCall } from '../../core/agent/tool-runner.ts';
import type { ToolRegistry } from '../../core/plugins/registry.ts';
import { closeInOrder, take } from '../compose.ts';
import type { Edges, HostEnvironment } from '../environment.ts';
import { foreignOf } from '../planning.ts';
import { agentSettings } from '../settings.ts';
import { TOKENS } from '../tokens.ts';
import { MCP_POLICY } from './policy.ts';
import type { ServedTools } from './server.ts';

/** Calls under way and waiting; more are refused. */
const MAX_PENDING = 128;
const ID_BYTES = 16;

/** Tools that belong to odek's own runs: they start, remember or ask, which is the client's business here. */
const NEVER_SERVED = /^(delegate_tasks|memory|clarify|send_message|bg_.*)$/;

/** The tools of one host without a model, as its clients see them. */
export interface ToolHost extends ServedTools {
  /** Random hex for session ids and tokens. */
  hex(bytes: number): string;
  close(): Promise<void>;
}

export interface ToolHostOptions {
  readonly environment: HostEnvironment;
  readonly edges: Edges;
  /** Told how each call ended. */
  onCall(name: string, ran: RanCall): void;
}

function servedOf(registry: ToolRegistry): ServedTools['list'] {
  let from: unknown;
  let served: ReturnType<ServedTools['list']> = [];
  return () => {
    const all = registry.definitions();
    if (all !== from) {
      from = all;
      served = all.filter(({ name }) => !NEVER_SERVED.test(name));
    }
    return served;
  };
}

/** Composes what calls need, and neither a provider nor an agent. Rejects with the first setup error. */
export async function openToolHost({ environment, edges, onCall }: ToolHostOptions): Promise<ToolHost> {
  const parts = await take(MCP_POLICY, environment, edges, async (get) => ({
    registry: await get(TOKENS.tools),
    plugins: await get(TOKENS.plugins),
    mcp: await get(TOKENS.mcp),
    plans: await get(TOKENS.plans),
    sandbox: await get(TOKENS.sandbox),
    store: await get(TOKENS.store),
    deps: {
      validator: await get(TOKENS.validator),
      fs: await get(TOKENS.fileSystem),
      clock: await get(TOKENS.clock),
      ids: await get(TOKENS.ids),
      hash: await get(TOKENS.hash),
      redactor: await get(TOKENS.redactor),
      shell: await get(TOKENS.shell),
    },
  }));
  const { registry, plans, deps } = parts;
  const settings = agentSettings(environment, MCP_POLICY, parts.sandbox.sandbox !== undefined);
  const runId = deps.ids.hex(ID_BYTES);
  // One plan for all clients: it is as old as this process.
  plans?.open(runId, () => {});
  const runner = createToolRunner(
    { ...deps, tools: registry, isForeign: foreignOf(environment.builtIns, edges.plugins) },
    {
      scope: settings,
      runId,
      sessionId: `mcp-${runId}`,
      maxPending: MAX_PENDING,
      maxToolParallel: settings.maxToolParallel,
      approvalTimeoutMs: settings.approvalTimeoutMs,
    },
  );
  const list = servedOf(registry);
  const closing = new AbortController();
  const under = new Set<Promise<unknown>>();
  let calls = 0;

  const call = async (name: string, input: unknown, signal: AbortSignal) => {
    calls += 1;
    const request = { id: `mcp-${calls}`, name, arguments: JSON.stringify(input) };
    const ran = await runner.run(request, AbortSignal.any([signal, closing.signal]));
    onCall(name, ran);
    return { text: ran.content, isError: ran.outcome !== 'completed' };
  };

  let closed: Promise<void> | undefined;
  const closeAll = (): Promise<void> => {
    closing.abort('the server ends');
    plans?.close(runId);
    return closeInOrder(deps.clock, [
      () => Promise.allSettled(under),
      () => parts.mcp.close(),
      () => parts.plugins.dispose(),
      () => parts.sandbox.close(),
      () => parts.store.close(),
    ]);
  };
  return {
    list,
    has: (name) => !NEVER_SERVED.test(name) && registry.get(name) !== undefined,
    call(name, input, signal) {
      const running = call(name, input, signal);
      const settled = running.catch(() => {});
      under.add(settled);
      void settled.then(() => under.delete(settled));
      return running;
    },
    onChange: (listener) => registry.onChange(listener),
    hex: (bytes) => deps.ids.hex(bytes),
    close: () => {
      closed ??= closeAll();
      return closed;
    },
  };
}
