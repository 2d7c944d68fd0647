import type { ArtifactDesk } from '../../core/artifacts/desk.ts';
import type { AppliedPlugins } from '../../core/plugins/host.ts';
import type { ToolRegistry } from '../../core/plugins/registry.ts';
import type { Redactor } from '../../core/redact/redactor.ts';
import type { Clock } from '../../ports/clock.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { Hash } from '../../ports/hash.ts';
import type { HttpClient } from '../../ports/http.ts';
import type { Ids } from '../../ports/ids.ts';
import type { SchemaValidator } from '../../ports/schema.ts';
import { bundlePlaces, mayHaveBundles } from '../bundles/places.ts';
import type { Edges, HostEnvironment } from '../environment.ts';
import type { McpBoard } from '../mcp-client/board.ts';
import type { HostPolicy } from '../policy.ts';
import type { SkillDesk } from '../skills/skill-desk.ts';
import { createPluginBoard, type PluginBoard } from './board.ts';

/** The board of a host's third-party plugins. What is switched on begins to be started; without any, nothing of it is loaded. */
export async function connectPlugins(
  policy: HostPolicy,
  environment: HostEnvironment,
  edges: Edges,
  registry: ToolRegistry,
  // Named so that the names of their tools are taken.
  _plugins: AppliedPlugins,
  mcp: McpBoard,
  artifacts: ArtifactDesk | undefined,
  skills: SkillDesk | undefined,
  fs: FileSystem,
  http: HttpClient,
  hash: Hash,
  validator: SchemaValidator,
  redactor: Redactor,
  clock: Clock,
  ids: Ids,
): Promise<PluginBoard> {
  const places = bundlePlaces(environment.config.state, environment.workspace);
  const board = createPluginBoard({
    isWanted: () => mayHaveBundles(places),
    async open() {
      const { openPlugins } = await import('./open.ts');
      return openPlugins({ policy, environment, edges, registry, mcp, artifacts, fs, http, hash, validator, redactor, clock, ids });
    },
  });
  skills?.follow(board);
  // Whatever is wrong with plugins is told, and odek starts.
  await board
    .begin()
    .catch((error: unknown) => edges.log('warning', `plugins are off: ${error instanceof Error ? error.message : String(error)}`));
  return board;
}
