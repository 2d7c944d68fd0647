import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createDiskFileSystem } from '../../../adapters/fs/disk.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { createToolRegistry, type ToolRegistry } from '../../../core/plugins/registry.ts';
import { createPluginDesk, type PluginDesk } from '../../../hosts/plugin-host/desk.ts';
import type { PluginHostParts } from '../../../hosts/plugin-host/parts.ts';
import type { ActiveBundle } from '../../../ports/bundle.ts';
import type { HttpClient } from '../../../ports/http.ts';
import { createFakeLauncher, type FakeLauncher, type FakePlugin } from './fake-host.ts';

export interface DeskHarness {
  readonly desk: PluginDesk;
  readonly launcher: FakeLauncher;
  readonly registry: ToolRegistry;
  readonly workspace: string;
  readonly logged: string[];
  /** Sets what is switched on, as another process would. */
  set(bundles: readonly ActiveBundle[]): void;
  close(): Promise<void>;
}

const DIGEST = 'a'.repeat(64);

/** A bundle as the state on disk would give it. */
export function bundle(
  name: string,
  more: Partial<ActiveBundle> & { readonly services?: readonly string[]; readonly hosts?: readonly string[] } = {},
): ActiveBundle {
  const { services = [], hosts = [], ...rest } = more;
  return {
    id: Buffer.from(name).toString('hex').padEnd(16, '0').slice(0, 16),
    name,
    scope: 'user',
    contentHash: DIGEST,
    capabilityHash: DIGEST,
    root: `/snapshots/${name}/run`,
    source: `/snapshots/${name}/src`,
    table: { 'main.mts': DIGEST },
    entries: [{ path: 'main.mts', sha256: DIGEST }],
    capabilities: { hostServices: services as never, networkHosts: hosts, filesystemRoots: [], lifecycleMutation: false },
    config: {},
    dataDir: join(tmpdir(), 'odek-plugin-data', name),
    skillRoots: [],
    mcpServers: [],
    trustedBy: { who: 'person', how: 'test', account: 'test', at: 0 },
    enabledBy: { who: 'person', how: 'test', account: 'test', at: 0 },
    ...rest,
  };
}

const NO_HTTP: HttpClient = {
  request: async () => {
    throw new Error('no network in this test');
  },
  close: async () => {},
};

export async function createDeskHarness(
  plugins: Readonly<Record<string, FakePlugin>>,
  options: Partial<PluginHostParts> & { readonly bundles?: readonly ActiveBundle[] } = {},
): Promise<DeskHarness> {
  const workspace = await realpath(await mkdtemp(join(tmpdir(), 'odek-plugin-host-')));
  const launcher = createFakeLauncher(plugins);
  const registry = options.registry ?? createToolRegistry();
  const logged: string[] = [];
  let bundles = options.bundles ?? Object.keys(plugins).map((name) => bundle(name));
  let stamp = 0;
  const { bundles: _bundles, ...parts } = options;
  const desk = createPluginDesk({
    source: { active: async () => bundles, stamp: () => String(stamp) },
    launcher,
    registry,
    validator: createSchemaValidator(),
    clock: createSystemClock(),
    ids: createRandomIds(),
    fs: createDiskFileSystem({ root: workspace, stateDir: join(workspace, '.state') }),
    http: NO_HTTP,
    redact: (text) => text.replaceAll('s3cret', '[hidden]'),
    workspace,
    builtInCommands: new Set(['help', 'exit']),
    serverOf: () => 'no servers in this test',
    skillRootFault: async () => undefined,
    log: (level, text) => logged.push(`${level} ${text}`),
    ...parts,
  });
  await desk.settled();
  return {
    desk,
    launcher,
    registry,
    workspace,
    logged,
    set(next) {
      bundles = next;
      stamp += 1;
    },
    async close() {
      await desk.close();
      await rm(workspace, { recursive: true, force: true });
    },
  };
}
