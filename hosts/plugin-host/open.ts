import { createExtensionHostLauncher } from '../../adapters/extension-host/index.ts';
import type { ArtifactDesk } from '../../core/artifacts/desk.ts';
import type { ToolRegistry } from '../../core/plugins/registry.ts';
import type { Redactor } from '../../core/redact/redactor.ts';
import type { ActiveBundle } from '../../ports/bundle.ts';
import type { Clock } from '../../ports/clock.ts';
import { CancelledError } from '../../ports/errors.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { Hash } from '../../ports/hash.ts';
import type { HttpClient } from '../../ports/http.ts';
import type { Ids } from '../../ports/ids.ts';
import type { SchemaValidator } from '../../ports/schema.ts';
import { activeBundles } from '../bundles/active.ts';
import { bundlePlaces } from '../bundles/places.ts';
import { openShelf } from '../bundles/shelf.ts';
import type { Edges, HostEnvironment } from '../environment.ts';
import { extensionProgram } from '../extension-child/program.ts';
import type { McpBoard } from '../mcp-client/board.ts';
import type { HostPolicy } from '../policy.ts';
import type { PluginBoardSource } from './board.ts';
import { BUILT_IN_COMMANDS } from './built-in-commands.ts';
import { createPluginDesk } from './desk.ts';
import { type ConnectServer, createLateServers, type LateServers } from './late-servers.ts';
import { serverOf, skillRootFault } from './offers.ts';
import type { BundleSource } from './parts.ts';

export interface OpenPluginsParts {
  readonly policy: HostPolicy;
  readonly environment: HostEnvironment;
  readonly edges: Edges;
  readonly registry: ToolRegistry;
  readonly mcp: McpBoard;
  readonly artifacts: ArtifactDesk | undefined;
  readonly fs: FileSystem;
  readonly http: HttpClient;
  readonly hash: Hash;
  readonly validator: SchemaValidator;
  readonly redactor: Redactor;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** What is switched on, with the troubles of the rest told once each. */
function bundleSource({ environment, edges, hash }: OpenPluginsParts, onRead: (bundles: readonly ActiveBundle[]) => void): BundleSource {
  const { config, env, workspace } = environment;
  const places = bundlePlaces(config.state, workspace);
  const warn = (text: string): void => edges.log('warning', text);
  const shelf = openShelf({ places, hash, env, warn });
  const configs = Object.fromEntries(Object.entries(config.plugins).map(([name, { config: given }]) => [name, given]));
  const told = new Set<string>();
  const tell = (text: string): void => {
    if (!told.has(text)) warn(text);
    told.add(text);
  };
  return {
    stamp: shelf.stamp,
    async active() {
      const { bundles, troubles } = await activeBundles({ shelf, places, hash, configs });
      for (const { name, why } of troubles) tell(`plugin "${name}" is not run: ${why}`);
      const idle = config.extension_host.enabled ? [] : bundles.filter(({ entries }) => entries.length > 0);
      for (const { name } of idle) tell(`plugin "${name}" is on and its code is not run: extension_host.enabled is false`);
      const wanted = config.extension_host.enabled ? bundles : bundles.map((bundle) => ({ ...bundle, entries: [] }));
      onRead(wanted);
      return wanted;
    },
  };
}

function connectorOf(parts: OpenPluginsParts): ConnectServer {
  return async (server, _plugin, signal) => {
    const { openMcpClient } = await import('../mcp-client/open.ts');
    const source = await openMcpClient({ ...parts, servers: [server] }, signal);
    return parts.mcp.join(source);
  };
}

/** Keeps the servers of `mcp.json` files as their bundles come and go. */
function bundleServers(late: LateServers) {
  const held = new Map<string, () => void>();
  return (bundles: readonly ActiveBundle[]): void => {
    const wanted = new Map(
      bundles.flatMap((bundle) => bundle.mcpServers.map((server) => [JSON.stringify([bundle.id, server]), { bundle, server }] as const)),
    );
    for (const [key, undo] of held) {
      if (wanted.has(key)) continue;
      held.delete(key);
      undo();
    }
    for (const [key, { bundle, server }] of wanted) if (!held.has(key)) held.set(key, late.add(server, bundle.name));
  };
}

/** Opens the plugins of a host. Their code begins to be started in the background; nothing here waits for it. */
export async function openPlugins(parts: OpenPluginsParts): Promise<PluginBoardSource> {
  const { policy, environment, edges, registry, fs, http, hash, validator, redactor, clock, ids } = parts;
  const { config, env, workspace } = environment;
  const { node, allow_unsandboxed: allowUnsandboxed } = config.extension_host;
  const warn = (text: string): void => edges.log('warning', text);
  const late = createLateServers(connectorOf(parts), warn);
  const keep = bundleServers(late);
  const launcher = createExtensionHostLauncher({
    program: extensionProgram(),
    stateDir: config.state.home,
    workspace,
    environment: env,
    allowUnsandboxed,
    ...(node !== undefined && { node }),
  });
  const desk = createPluginDesk({
    source: bundleSource(parts, (bundles) => (policy.mcp.client ? keep(bundles) : undefined)),
    launcher,
    registry,
    validator,
    clock,
    ids,
    fs,
    http,
    redact: redactor.text,
    workspace,
    builtInCommands: BUILT_IN_COMMANDS,
    serverOf: (bundle, name, definition) => serverOf(bundle, name, definition, hash),
    skillRootFault,
    ...(policy.mcp.client && { connectServer: late.add }),
    log: edges.log,
  });
  return {
    preExecute: desk.preExecute,
    prompt: {
      async ready(signal) {
        await desk.prompt.ready(signal);
        await late.connect(signal);
        if (signal.aborted) throw new CancelledError();
      },
      render: desk.prompt.render,
    },
    begun: desk.prompt.ready,
    commands: () => desk.commands,
    buildOf: desk.buildOf,
    skillRoots: desk.skillRoots,
    report: desk.report,
    async reload() {
      await desk.reload(true);
      await desk.settled();
    },
    async close() {
      await desk.close();
      await late.close();
    },
  };
}
