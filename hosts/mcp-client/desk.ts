import type { ArtifactDesk } from '../../core/artifacts/desk.ts';
import { type CheckedTool, checkDefinitions } from '../../core/mcp/definition.ts';
import { mcpToolNames } from '../../core/mcp/names.ts';
import { createMcpTool, type McpTool } from '../../core/mcp/tool.ts';
import type { ToolRegistry } from '../../core/plugins/registry.ts';
import type { Hash } from '../../ports/hash.ts';
import type { McpConnection, McpServer, McpToolList } from '../../ports/mcp.ts';
import type { Disposer } from '../../ports/plugin.ts';
import type { SchemaValidator } from '../../ports/schema.ts';
import type { CataloguedServer } from '../../ports/tool-catalogue.ts';
import { leftOutText, type McpApprovals } from './approvals.ts';
import type { McpBoardSource } from './board.ts';
import { type ConnectedServer, messageOf } from './connect-all.ts';

export interface McpDeskOptions {
  readonly connected: readonly ConnectedServer[];
  /** Listed, and nothing else. */
  readonly absent: readonly { readonly server: McpServer; readonly state: 'failed' | 'not_approved' }[];
  readonly registry: ToolRegistry;
  readonly artifacts?: ArtifactDesk | undefined;
  readonly approvals: McpApprovals;
  /** Whether the operator wants a tool of any of these names at all. */
  readonly isWanted: (...names: readonly string[]) => boolean;
  readonly hash: Hash;
  readonly validator: SchemaValidator;
  /** Whether somebody can be asked, for messages. */
  readonly canAsk: boolean;
  readonly targetOf: (server: McpServer) => string;
  readonly log: (level: 'info' | 'warning', text: string) => void;
}

/** The tools of connected servers in a registry, kept as their servers change them. */
export interface McpDesk extends McpBoardSource {
  /** Registers what every server offers, in order. Rejects with `McpRegistrationError` for a name that ends the start. */
  register(signal: AbortSignal): Promise<void>;
  /** Takes back every tool and ends every connection. Idempotent. */
  close(): Promise<void>;
}

interface Held {
  readonly checked: CheckedTool;
  readonly tool: McpTool;
  /** Absent: it waits to be put in place. */
  dispose: Disposer | undefined;
}

interface Desk {
  readonly server: McpServer;
  readonly connection: McpConnection;
  readonly list: McpToolList;
  /** By the server's own name of the tool. */
  held: Map<string, Held>;
  /** What takes the place of `held` at the next boundary. */
  next: Map<string, Held> | undefined;
  restarts: number;
  looking: boolean;
  lookAgain: boolean;
  looks: number;
  /** Questions about changes so far. */
  questions: number;
  /** Definitions that were left out: nobody is asked about them twice in a session. */
  readonly left: Set<string>;
}

/** Questions that a server may bring about in one session by changing its tools; then changes are left out unasked. */
const MAX_QUESTIONS = 5;
/** Listings that a server may bring about in one session; then its tools stay as they are. */
const MAX_LOOKS = 1000;

export function createMcpDesk(options: McpDeskOptions): McpDesk {
  const { registry, approvals, hash, validator, log } = options;
  const closing = new AbortController();
  const listeners = new Set<() => void>();
  const desks = options.connected.map(
    (each): Desk => ({
      ...each,
      held: new Map(),
      next: undefined,
      restarts: each.connection.report().restarts,
      looking: false,
      lookAgain: false,
      looks: 0,
      questions: 0,
      left: new Set(),
    }),
  );

  /** The definitions of a listing that passed every check and that the operator wants. */
  const checked = async ({ server }: Desk, { tools, warnings }: McpToolList): Promise<readonly CheckedTool[]> => {
    for (const warning of warnings) log('warning', `MCP server "${server.name}": ${warning}`);
    const isOwn = (name: string): boolean => registry.get(name)?.mcp?.server === server.name;
    const holderOf = (name: string): string | undefined => (isOwn(name) ? undefined : registry.holderOf(name));
    const names = mcpToolNames(
      server.name,
      tools.map(({ name }) => name),
      { holderOf },
      hash,
    );
    const wanted = tools
      .map((definition, at) => ({ definition, name: names[at] }))
      .filter(({ name }) => name !== undefined && isWanted(name));
    const result = await checkDefinitions(
      server,
      wanted.map(({ definition }) => definition),
      wanted.map(({ name }) => name).filter((name) => name !== undefined),
      { hash, validator },
    );
    for (const warning of result.warnings) log('warning', warning);
    return result.tools;
  };
  const isWanted = ({ registered, qualified }: { registered: string; qualified: string }): boolean =>
    options.isWanted(registered, qualified);

  const admit = async (desk: Desk, tools: readonly CheckedTool[], signal: AbortSignal, ask: boolean): Promise<readonly CheckedTool[]> => {
    const { admitted, left, asked } = await approvals.admitTools(desk.server, tools, { signal, ask });
    if (asked) desk.questions += 1;
    for (const { digest } of left) desk.left.add(digest.sha256);
    const told = leftOutText(desk.server, left, options.canAsk);
    if (told !== undefined) log('warning', told);
    return admitted;
  };

  /** The connection as tools use it: a server that was started again may offer something else. */
  const callsOf = (desk: Desk): Pick<McpConnection, 'call'> => ({
    call: (tool, input, calling) =>
      desk.connection.call(tool, input, calling).finally(() => {
        const { restarts } = desk.connection.report();
        if (restarts === desk.restarts) return;
        desk.restarts = restarts;
        look(desk);
      }),
  });

  const hold = (desk: Desk, tool: CheckedTool): Held => ({
    checked: tool,
    tool: createMcpTool(desk.server, tool, { connection: callsOf(desk), artifacts: options.artifacts }),
    dispose: undefined,
  });

  /** Asks for the list again, one look at a time; what comes meanwhile leads to one more. */
  const look = (desk: Desk): void => {
    if (closing.signal.aborted) return;
    if (desk.looking) {
      desk.lookAgain = true;
      return;
    }
    if (desk.looks === MAX_LOOKS) {
      log('warning', `MCP server "${desk.server.name}" changed its tools ${MAX_LOOKS} times; they stay as they are`);
    }
    desk.looks += 1;
    if (desk.looks > MAX_LOOKS) return;
    desk.looking = true;
    void renew(desk)
      .catch((error: unknown) => {
        if (!closing.signal.aborted) withdraw(desk, error);
      })
      .finally(() => {
        desk.looking = false;
        if (!desk.lookAgain) return;
        desk.lookAgain = false;
        look(desk);
      });
  };

  const renew = async (desk: Desk): Promise<void> => {
    const { server, connection } = desk;
    const tools = await checked(desk, await connection.listTools(closing.signal));
    const current = desk.next ?? desk.held;
    const next = new Map<string, Held>();
    const changed: CheckedTool[] = [];
    for (const tool of tools) {
      const held = current.get(tool.name.tool);
      if (held !== undefined && held.checked.digest.sha256 === tool.digest.sha256) next.set(tool.name.tool, held);
      else changed.push(tool);
    }
    // Before anybody is asked: from here on a call means something that was not approved.
    for (const [name, { tool }] of current) {
      if (next.has(name)) continue;
      const isGone = !changed.some(({ name: { tool: own } }) => own === name);
      tool.retire(isGone ? 'removed' : 'changed');
      log('warning', `MCP server "${server.name}" ${isGone ? 'no longer offers' : 'describes in another way'} its tool ${name}`);
    }
    propose(desk, new Map(next));
    const admitted = await admit(
      desk,
      changed.filter(({ digest }) => !desk.left.has(digest.sha256)),
      closing.signal,
      desk.questions < MAX_QUESTIONS,
    );
    for (const tool of admitted) next.set(tool.name.tool, hold(desk, tool));
    if (admitted.length > 0) log('info', `MCP server "${server.name}" now offers ${admitted.map(({ name }) => name.tool).join(', ')}`);
    propose(desk, next);
  };

  /** A list that cannot be had or must not be taken: nothing of the server is offered until it gives a better one. */
  const withdraw = (desk: Desk, error: unknown): void => {
    log('warning', `MCP server "${desk.server.name}": its tools are withdrawn: ${messageOf(error)}`);
    for (const { tool } of (desk.next ?? desk.held).values()) tool.retire('removed');
    propose(desk, new Map());
  };

  const propose = (desk: Desk, next: Map<string, Held>): void => {
    if (closing.signal.aborted) return;
    desk.next = next;
    for (const listener of listeners) listener();
  };

  /** Old tools go first, so that a new one may take the same name. */
  const settle = (): void => {
    for (const desk of desks) {
      const { next } = desk;
      if (next === undefined) continue;
      desk.next = undefined;
      for (const held of desk.held.values()) if (![...next.values()].includes(held)) held.dispose?.();
      desk.held = next;
      for (const [name, held] of next) {
        try {
          held.dispose ??= registry.registerMcp(held.tool);
        } catch (error) {
          next.delete(name);
          log('warning', messageOf(error));
        }
      }
    }
  };

  let closed: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    closing.abort();
    for (const { held } of desks) for (const { dispose } of held.values()) dispose?.();
    await Promise.allSettled(desks.map(({ connection }) => connection.close()));
  };

  return {
    async register(signal) {
      for (const desk of desks) {
        for (const tool of await admit(desk, await checked(desk, desk.list), signal, true)) {
          const held = hold(desk, tool);
          held.dispose = registry.registerMcp(held.tool);
          desk.held.set(tool.name.tool, held);
        }
        // What is asked at the start is no question that the server brought about by a change.
        desk.questions = 0;
        desk.connection.onToolsChanged(() => look(desk));
      }
    },
    servers: () => [
      ...desks.map(
        (desk): CataloguedServer => ({
          name: desk.server.name,
          state: desk.connection.report().state,
          target: options.targetOf(desk.server),
          tools: desk.held.size,
        }),
      ),
      ...options.absent.map(({ server, state }) => ({ name: server.name, state, target: options.targetOf(server), tools: 0 })),
    ],
    settle,
    onPending(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close() {
      closed ??= closeAll();
      return closed;
    },
  };
}
