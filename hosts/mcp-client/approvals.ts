import { type McpToolApproval, parseToolApproval, serverApproval, toolApproval } from '../../core/mcp/approval.ts';
import { serverCard, toolsCard } from '../../core/mcp/card.ts';
import type { CheckedTool } from '../../core/mcp/definition.ts';
import { serverApprovalKey, toolApprovalKey } from '../../core/mcp/fingerprint.ts';
import { ConfigError, isOdekError } from '../../ports/errors.ts';
import type { Hash } from '../../ports/hash.ts';
import type { McpServer } from '../../ports/mcp.ts';
import type { McpApprovalLayer, McpApprovalRecord, McpApprovalStore } from '../../ports/mcp-approval.ts';
import type { Consent } from './consent.ts';

/** Every project server and every tool is approved for one start. */
const APPROVE_ALL = 'ODEK_APPROVE_MCP';

export interface McpApprovalsOptions {
  readonly store: McpApprovalStore;
  readonly hash: Hash;
  /** Absolute path of the working directory: an approval holds there alone. */
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absent: nobody can be asked. */
  readonly consent?: Consent | undefined;
  readonly now: () => number;
  readonly warn: (text: string) => void;
}

export interface AdmittedTools {
  readonly admitted: readonly CheckedTool[];
  /** Left out: a person said no, or nobody could be asked. */
  readonly left: readonly CheckedTool[];
  /** A person was asked. */
  readonly asked: boolean;
}

/** Both layers of approval. What is granted by a person is kept, each tool under its own key. */
export interface McpApprovals {
  /** What lets a server start, or `undefined` while nothing does: `operator`, `auto_approve`, `ODEK_APPROVE_MCP` or `approved`. */
  serverGrant(server: McpServer): Promise<string | undefined>;
  /** Asks for each server that nothing lets start. Resolves with those that may not. */
  admitServers(servers: readonly McpServer[], signal: AbortSignal): Promise<readonly McpServer[]>;
  /** Asks once for all tools that nothing lets in, unless `ask` is false. */
  admitTools(server: McpServer, tools: readonly CheckedTool[], options: { signal: AbortSignal; ask?: boolean }): Promise<AdmittedTools>;
}

export function createMcpApprovals(options: McpApprovalsOptions): McpApprovals {
  const { store, hash, project, env, consent, now, warn } = options;
  const isOpen = env[APPROVE_ALL] === '1';
  const place = () => ({ project, now: now(), hash });

  const keep = async (layer: McpApprovalLayer, records: readonly McpApprovalRecord[]): Promise<void> => {
    try {
      await store.add(layer, records);
    } catch (error) {
      if (!isOdekError(error)) throw error;
      warn(`the approval counts for now and is asked for again next time: ${error.message}`);
    }
  };

  const serverGrant = async (server: McpServer): Promise<string | undefined> => {
    if (server.origin === 'operator') return server.autoApprove ? 'auto_approve' : 'operator';
    if (isOpen) return APPROVE_ALL;
    const key = serverApprovalKey(server, project, hash);
    return (await store.list('servers')).some((record) => record.key === key) ? 'approved' : undefined;
  };

  return {
    serverGrant,
    async admitServers(servers, signal) {
      const refused: McpServer[] = [];
      for (const server of servers) {
        if ((await serverGrant(server)) !== undefined) continue;
        const question = server.transport === 'http' ? 'Connect to it?' : 'Start it?';
        const chosen = (await consent?.({ card: serverCard(server, project), count: 1, question }, signal)) ?? [];
        if (chosen.length === 0) refused.push(server);
        else await keep('servers', [{ ...serverApproval(server, place()) }]);
      }
      return refused;
    },
    async admitTools(server, tools, { signal, ask = true }) {
      if (server.autoApprove || isOpen) return { admitted: tools, left: [], asked: false };
      const kept = (await store.list('tools')).map(parseToolApproval).filter((record) => record !== undefined);
      const keys = new Set(kept.map(({ key }) => key));
      const keyOf = new Map(tools.map((tool) => [tool, toolApprovalKey(server, project, tool.definition, hash)]));
      const waiting = tools.filter((tool) => !keys.has(keyOf.get(tool) ?? ''));
      if (waiting.length === 0) return { admitted: tools, left: [], asked: false };
      const shown = waiting.map((tool) => withBefore(tool, server, project, kept));
      const question = waiting.length === 1 ? 'Approve it?' : `Approve all ${waiting.length}?`;
      const person = ask ? consent : undefined;
      const chosen = (await person?.({ card: toolsCard(server, shown), count: waiting.length, question }, signal)) ?? [];
      const granted = new Set(chosen.map((number) => waiting[number - 1]).filter((tool) => tool !== undefined));
      if (granted.size > 0) {
        await keep(
          'tools',
          [...granted].map((tool) => ({ ...toolApproval(server, tool.definition, place()) })),
        );
      }
      const left = waiting.filter((tool) => !granted.has(tool));
      return { admitted: tools.filter((tool) => !left.includes(tool)), left, asked: person !== undefined };
    },
  };
}

/** The tool beside the last approval that it, or what bore its name, was given. */
function withBefore(tool: CheckedTool, server: McpServer, project: string, kept: readonly McpToolApproval[]) {
  const before = kept.findLast((each) => each.project === project && each.server === server.name && each.tool === tool.definition.name);
  return { tool, ...(before && { before }) };
}

/** What ends a start whose servers are not approved. */
export function notApproved(servers: readonly McpServer[], canAsk: boolean): ConfigError {
  const names = servers.map(({ name }) => name);
  const text = `this project's MCP server ${quoted(names)} is not approved, and nothing was started; ${waysOut(names[0] ?? '', canAsk)}`;
  return new ConfigError('mcp_server_not_approved', text, { value: names });
}

/** One line about servers that were left out because nothing lets them start. */
export function notStartedText(servers: readonly McpServer[], canAsk: boolean): string {
  const names = servers.map(({ name }) => name);
  return `this project's MCP server ${quoted(names)} is not approved, and left out; ${waysOut(names[0] ?? '', canAsk)}`;
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

function waysOut(name: string, canAsk: boolean): string {
  return canAsk
    ? `approve it, or turn it off in odek.json with mcp_servers.${name}.enabled: false`
    : `nobody can be asked here: run odek mcp approve ${name} at a terminal, or set ${APPROVE_ALL}=1 for this start`;
}

/** One line about tools that were left out; undefined for none. */
export function leftOutText(server: McpServer, left: readonly CheckedTool[], canAsk: boolean): string | undefined {
  if (left.length === 0) return undefined;
  const names = left.map(({ name }) => name.tool).join(', ');
  const text = `MCP server "${server.name}": not approved, and left out: ${names}`;
  return canAsk ? text : `${text}; run odek mcp approve ${server.name} at a terminal, or set ${APPROVE_ALL}=1 for this start`;
}
