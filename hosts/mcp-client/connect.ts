import type { ArtifactDesk } from '../../core/artifacts/desk.ts';
import type { AppliedPlugins } from '../../core/plugins/host.ts';
import type { ToolRegistry } from '../../core/plugins/registry.ts';
import type { Redactor } from '../../core/redact/redactor.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Hash } from '../../ports/hash.ts';
import type { Ids } from '../../ports/ids.ts';
import type { SchemaValidator } from '../../ports/schema.ts';
import type { Edges, HostEnvironment } from '../environment.ts';
import type { HostPolicy } from '../policy.ts';
import type { McpBoard } from './board.ts';

/** The board with the configured servers behind it. Nothing of MCP is loaded where there is none, or where the policy connects none. */
export async function connectMcp(
  board: McpBoard,
  policy: HostPolicy,
  environment: HostEnvironment,
  edges: Edges,
  registry: ToolRegistry,
  // Named so that the names of their tools are taken.
  _plugins: AppliedPlugins,
  artifacts: ArtifactDesk | undefined,
  hash: Hash,
  validator: SchemaValidator,
  redactor: Redactor,
  clock: Clock,
  ids: Ids,
): Promise<McpBoard> {
  if (!policy.mcp.client || Object.keys(environment.config.mcp_servers).length === 0) return board;
  const { openMcpClient } = await import('./open.ts');
  await board.open((signal) =>
    openMcpClient({ policy, environment, edges, registry, artifacts, hash, validator, redactor, clock, ids }, signal),
  );
  return board;
}
