import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { CANONICAL_SCHEMA } from '../../../core/bundles/manifest.ts';
import { activeBundles } from '../../../hosts/bundles/active.ts';
import { bundlePlaces } from '../../../hosts/bundles/places.ts';
import { openShelf } from '../../../hosts/bundles/shelf.ts';
import type { BundleActor } from '../../../ports/bundle.ts';

export const BY: BundleActor = { who: 'person', how: 'a test', account: 'ada', at: 1 };
const TOKEN = /[0-9a-f]{64}\.[0-9a-f]{64}/;

/** A state folder, a project, and folders to install from, all new. */
export async function createShelfStage() {
  const root = await mkdtemp(join(tmpdir(), 'odek-shelf-'));
  const [home, work] = [join(root, 'state'), join(root, 'work')];
  await mkdir(work);
  const hash = createSha256();
  const told: string[] = [];
  const placesIn = (workspace: string) => bundlePlaces({ home }, workspace);
  const shelfIn = (workspace: string, env: Readonly<Record<string, string>> = { PATH: process.env.PATH ?? '' }) =>
    openShelf({ places: placesIn(workspace), hash, env, warn: (text) => void told.push(text) });
  const shelf = shelfIn(work);

  const put = async (folder: string, files: Readonly<Record<string, string | object>>): Promise<string> => {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content));
    }
    return folder;
  };
  return {
    ...{ root, home, work, hash, told, shelf, shelfIn, placesIn, put },
    /** Writes a bundle to install from. */
    source: (files: Readonly<Record<string, string | object>>, name = 'source') => put(join(root, name), files),
    async tokenOf(name: string, from = shelf): Promise<string> {
      return TOKEN.exec((await from.review(name, BY)).join('\n'))?.[0] ?? '';
    },
    /** Reviewed, trusted and switched on. */
    async turnOn(name: string, from = shelf): Promise<void> {
      await from.trust(await this.tokenOf(name, from), BY);
      await from.enable(name, BY);
    },
    active: (configs = {}, from = shelf, workspace = work) => activeBundles({ shelf: from, places: placesIn(workspace), hash, configs }),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

export const manifest = (name: string, namespace: object = { native: { path: 'plugin.mts' } }, more: object = {}) => ({
  ...{ $schema: CANONICAL_SCHEMA, name, version: '1.0.0' },
  extensions: { 'dev.odek': namespace },
  ...more,
});

export const CODE =
  "import { join } from 'node:path';\nexport const inject: string[] = [];\nexport function apply(): void { join('a'); }\n";
