import { createFileApprovals } from '../../adapters/mcp-approvals/files.ts';
import type { ArtifactDesk } from '../../core/artifacts/desk.ts';
import type { ToolRegistry } from '../../core/plugins/registry.ts';
import type { Redactor } from '../../core/redact/redactor.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Hash } from '../../ports/hash.ts';
import type { Ids } from '../../ports/ids.ts';
import type { McpServer } from '../../ports/mcp.ts';
import type { SchemaValidator } from '../../ports/schema.ts';
import type { Edges, HostEnvironment } from '../environment.ts';
import type { HostPolicy } from '../policy.ts';
import { isWanted } from '../tool-filter.ts';
import { createMcpApprovals, type McpApprovals, notApproved, notStartedText } from './approvals.ts';
import type { McpBoardSource } from './board.ts';
import { connectAll, type FailedServer, messageOf } from './connect-all.ts';
import { openConnector } from './connector.ts';
import type { Consent } from './consent.ts';
import { createMcpDesk } from './desk.ts';
import { mcpServersOf, strippedNote, targetOf } from './servers.ts';

export interface McpClientParts {
  readonly policy: HostPolicy;
  readonly environment: HostEnvironment;
  readonly edges: Edges;
  /** Holds the built-in tools already: their names are taken. */
  readonly registry: ToolRegistry;
  /** Absent: every reference to an artifact is refused. */
  readonly artifacts?: ArtifactDesk | undefined;
  readonly hash: Hash;
  readonly validator: SchemaValidator;
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly ids: Ids;
  /** These in place of the configured ones; one that does not come is told and left out. */
  readonly servers?: readonly McpServer[];
}

/** What takes longer than this, in milliseconds, is told while it lasts. */
const PROGRESS_MS = 1000;
const ID_BYTES = 8;

/**
 * Connects the configured servers and registers their tools, as the surface's policy says. Nothing is started
 * before every project's server is approved. Rejects with `ConfigError` or `CancelledError`, and then has left
 * nothing running.
 */
export async function openMcpClient(parts: McpClientParts, closing: AbortSignal): Promise<McpBoardSource> {
  const { policy, environment, edges, registry, artifacts, hash, validator, redactor } = parts;
  const { config, workspace } = environment;
  const signal = edges.signal === undefined ? closing : AbortSignal.any([closing, edges.signal]);
  const warn = (text: string): void => edges.log('warning', text);
  const abortOnFailure = policy.mcp.connectFailure !== 'warn' && parts.servers === undefined;
  const servers = parts.servers ?? mcpServersOf(config, workspace);
  if (parts.servers === undefined) {
    for (const [name, server] of Object.entries(config.mcp_servers)) tellOf(strippedNote(name, server), warn);
  }

  const consent = consentOf(parts);
  const approvals = approvalsOf(parts, consent, warn);
  const refused = await approvals.admitServers(servers, signal);
  if (refused.length > 0 && abortOnFailure) throw notApproved(refused, consent !== undefined);
  if (refused.length > 0) warn(notStartedText(refused, consent !== undefined));

  const connector = edges.connector ?? openConnector(environment, redactor, (line) => edges.log('info', line));
  try {
    const allowed = servers.filter((server) => !refused.includes(server));
    const stopTelling = tellWhile(allowed, parts);
    const { connected, failed } = await connectAll({ servers: allowed, connector, abortOnFailure, signal }).finally(stopTelling);
    for (const { server, error } of failed) warn(`MCP server "${server.name}" is left out: ${messageOf(error)}`);
    const desk = createMcpDesk({
      connected,
      absent: absentOf(failed, refused),
      registry,
      artifacts,
      approvals,
      isWanted: (...names) => isWanted(config.tools, names),
      hash,
      validator,
      canAsk: consent !== undefined,
      targetOf: (server) => targetOf(server, redactor.text),
      log: edges.log,
    });
    await desk.register(signal).catch(async (error: unknown) => {
      await desk.close();
      throw error;
    });
    return { ...desk, close: () => desk.close().finally(connector.close) };
  } catch (error) {
    await connector.close();
    throw error;
  }
}

function approvalsOf(
  { environment, hash, clock }: McpClientParts,
  consent: Consent | undefined,
  warn: (text: string) => void,
): McpApprovals {
  const { config, env, workspace } = environment;
  const store = createFileApprovals({ folder: config.state.home, warn });
  return createMcpApprovals({ store, hash, project: workspace, env, consent, now: clock.now, warn });
}

/** The person of the surface, where its policy lets one be asked; told as events, so that a view makes room. */
function consentOf({ policy, edges, clock, ids }: McpClientParts): Consent | undefined {
  const { consent } = edges;
  if (consent === undefined || policy.approver.default !== 'terminal') return undefined;
  return async (request, signal) => {
    const base = { runId: '', question_id: ids.hex(ID_BYTES) };
    edges.onEvent({ ...base, type: 'question_asked', text: request.question, at: clock.now() });
    try {
      return await consent(request, signal);
    } finally {
      edges.onEvent({ ...base, type: 'question_answered', at: clock.now() });
    }
  };
}

function tellWhile(servers: readonly McpServer[], { clock, edges }: McpClientParts): () => void {
  const names = servers.map(({ name }) => name).join(', ');
  return clock.after(PROGRESS_MS, () => edges.log('warning', `waiting for MCP servers: ${names}`));
}

function tellOf(note: string | undefined, warn: (text: string) => void): void {
  if (note !== undefined) warn(note);
}

function absentOf(failed: readonly FailedServer[], refused: readonly McpServer[]) {
  return [
    ...failed.map(({ server }) => ({ server, state: 'failed' as const })),
    ...refused.map((server) => ({ server, state: 'not_approved' as const })),
  ];
}
