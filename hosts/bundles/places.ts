import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BundleScope } from '../../ports/bundle.ts';
import type { Hash } from '../../ports/hash.ts';
import type { StatePaths } from '../config/types.ts';

/** Where bundles and what belongs to them lie. All absolute. */
export interface BundlePlaces {
  readonly workspace: string;
  /** Folders that hold bundles, by their scope. */
  readonly folders: Readonly<Record<BundleScope, string>>;
  readonly stateFile: string;
  /** Holds a snapshot for each content hash. */
  readonly snapshots: string;
  /** Holds a folder for each bundle, which nothing of odek removes. */
  readonly data: string;
}

export function bundlePlaces(state: Pick<StatePaths, 'home'>, workspace: string): BundlePlaces {
  const user = join(state.home, 'plugins');
  const host = join(state.home, 'extension-host');
  return {
    workspace,
    folders: { user, workspace: join(workspace, '.odek', 'plugins') },
    stateFile: join(user, 'state.json'),
    snapshots: join(host, 'snapshot'),
    data: join(host, 'data'),
  };
}

/** Whether anything may be trusted at all. One look at the disk, so that whoever has no plugin pays nothing else. */
export function mayHaveBundles({ stateFile }: BundlePlaces): boolean {
  return existsSync(stateFile);
}

/** What a bundle is called in the records: the same for as long as it stays at its place. */
export function bundleId(place: { readonly scope: BundleScope; readonly workspace?: string; readonly name: string }, hash: Hash): string {
  return hash.sha256(JSON.stringify(['odek bundle', place.scope, place.workspace ?? '', place.name])).slice(0, 16);
}

export function dataDirOf({ data }: BundlePlaces, name: string, id: string): string {
  return join(data, `${name}-${id}`);
}
