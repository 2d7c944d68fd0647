import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { configProblem } from '../../core/bundles/config.ts';
import type { ActiveBundle } from '../../ports/bundle.ts';
import type { Hash } from '../../ports/hash.ts';
import { isUsable } from './inspect.ts';
import { type BundlePlaces, dataDirOf } from './places.ts';
import { bundleServer } from './servers.ts';
import { ensureStaged, isBundleTrouble, type Shelf } from './shelf.ts';
import type { BundleStatus } from './standing.ts';

/** A bundle that is switched on and cannot be run, or that somebody has to look at again. */
export interface BundleTrouble {
  readonly name: string;
  readonly why: string;
}

export interface ActiveOptions {
  readonly shelf: Shelf;
  readonly places: BundlePlaces;
  readonly hash: Hash;
  /** `plugins.<name>.config` of the operator, by name. */
  readonly configs: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/**
 * Looks at every bundle again, byte by byte, and gives those that may run: trusted, switched on and unchanged.
 * One that is wrong keeps no other from running.
 */
export async function activeBundles(options: ActiveOptions): Promise<{
  readonly bundles: readonly ActiveBundle[];
  readonly troubles: readonly BundleTrouble[];
}> {
  const bundles: ActiveBundle[] = [];
  const troubles: BundleTrouble[] = [];
  for (const status of await options.shelf.list()) {
    const { standing, name, why, record } = status;
    try {
      const bundle = standing === 'on' ? await activeBundle(status, options) : undefined;
      if (bundle !== undefined) bundles.push(bundle);
      else if (record?.enabled !== undefined) troubles.push({ name, why });
    } catch (error) {
      if (!isBundleTrouble(error)) throw error;
      troubles.push({ name, why: error.message });
    }
  }
  return { bundles, troubles };
}

async function activeBundle(status: BundleStatus, { places, hash, configs }: ActiveOptions): Promise<ActiveBundle | undefined> {
  const { inspection, record, id, name, scope, workspace } = status;
  const [trust, enabled] = [record?.trust, record?.enabled];
  if (inspection === undefined || !isUsable(inspection) || trust === undefined || enabled === undefined) return undefined;
  const { source, root, table } = await ensureStaged(places, hash, inspection, 'refuse');
  const dataDir = dataDirOf(places, name, id);
  if (inspection.mcpServers.length > 0) await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const config = Object.hasOwn(configs, name) ? (configs[name] ?? {}) : {};
  const refused = configProblem(config);
  const { manifest } = inspection;
  return {
    id,
    name,
    ...(manifest.version !== undefined && { version: manifest.version }),
    scope,
    ...(workspace !== undefined && { workspace }),
    contentHash: inspection.content,
    capabilityHash: inspection.capability,
    root,
    source,
    table,
    entries: manifest.native.map((path) => ({ path, sha256: table[path] ?? '' })),
    capabilities: manifest.capabilities,
    config: refused === undefined ? config : {},
    ...(refused !== undefined && { configRefused: refused }),
    dataDir,
    skillRoots: inspection.skillRoots.map((folder) => join(source, folder)),
    mcpServers: inspection.mcpServers.map((server) => bundleServer(server, { plugin: name, root: source, data: dataDir }, hash)),
    trustedBy: trust.by,
    enabledBy: enabled,
  };
}
