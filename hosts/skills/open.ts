import { readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { createDiskSkills, type SkillRoot } from '../../adapters/skills/disk.ts';
import { parseSkill } from '../../core/bundles/skill-file.ts';
import { scanInjection } from '../../core/injection/scan.ts';
import type { ActiveBundle } from '../../ports/bundle.ts';
import { CancelledError } from '../../ports/errors.ts';
import type { Hash } from '../../ports/hash.ts';
import { bundlePlaces, mayHaveBundles } from '../bundles/places.ts';
import type { Edges, HostEnvironment } from '../environment.ts';
import type { PluginBoard } from '../plugin-host/board.ts';
import type { SkillDesk, SkillFolders } from './skill-desk.ts';

const REGISTERS = 'registerRoot';

export interface SkillDeskParts {
  readonly environment: HostEnvironment;
  readonly edges: Pick<Edges, 'log'>;
  readonly hash: Hash;
  readonly folders: SkillFolders;
}

/** Skills of the user, of the operator's folders, of plugins and, to be reviewed, of the project. */
export async function createSkillDesk(parts: SkillDeskParts): Promise<SkillDesk & { hasPluginRoots(): Promise<boolean> }> {
  const { environment, edges, folders } = parts;
  const warn = (text: string): void => edges.log('warning', text);
  let board: Pick<PluginBoard, 'skillRoots'> | undefined;

  const roots = async (signal: AbortSignal): Promise<readonly SkillRoot[]> => {
    const own: readonly SkillRoot[] = [
      { folder: folders.user, origin: 'user' },
      ...folders.configured.map((folder) => ({ folder, origin: 'configured' as const })),
    ];
    const bundles = await bundlesThatAreOn(parts);
    if (signal.aborted) throw new CancelledError();
    // What code registered counts for as long as its plugin is on, also before the host of its code has noticed.
    const names = new Set(bundles.map(({ name }) => name));
    const registered = (board?.skillRoots() ?? []).filter(({ plugin }) => names.has(plugin));
    const ofPlugins = [
      ...bundles.flatMap(({ name, skillRoots }) => skillRoots.map((folder) => ({ plugin: name, folder }))),
      ...registered.map(({ plugin, path }) => ({ plugin, folder: path })),
    ];
    const known = new Set<string>();
    const plugins = ofPlugins.filter(({ plugin, folder }) => {
      const key = JSON.stringify([plugin, folder]);
      const isNew = !known.has(key);
      known.add(key);
      return isNew;
    });
    const all = [...own, ...plugins.map((root): SkillRoot => ({ ...root, origin: 'plugin' }))];
    return (await isAmong(folders.project, own))
      ? all
      : [...all, { folder: folders.project, origin: 'project', within: environment.workspace }];
  };

  return {
    catalogue: createDiskSkills({ roots, parse: parseSkill, scan: (text) => scanInjection(text).map(({ rule }) => rule), warn }),
    follow(given) {
      board = given;
    },
    async hasPluginRoots() {
      for (const bundle of await bundlesThatAreOn(parts)) {
        if (bundle.skillRoots.length > 0) return true;
        if (environment.config.extension_host.enabled && (await registersRoots(bundle))) return true;
      }
      return false;
    },
  };
}

/** Whether its code names the call that registers a folder. It has not run yet when tools are offered. */
async function registersRoots({ entries, root, table }: ActiveBundle): Promise<boolean> {
  if (entries.length === 0) return false;
  for (const path of Object.keys(table)) if ((await readFile(join(root, path), 'utf8')).includes(REGISTERS)) return true;
  return false;
}

/** Whether the operator has named a project's folder as one of theirs. */
async function isAmong(folder: string, roots: readonly SkillRoot[]): Promise<boolean> {
  const place = (path: string): Promise<string> => realpath(path).catch(() => path);
  const real = await place(folder);
  return (await Promise.all(roots.map((root) => place(root.folder)))).includes(real);
}

/** Looked at byte by byte, each time: one that was switched off or changed meanwhile offers nothing. */
async function bundlesThatAreOn({ environment, edges, hash }: SkillDeskParts): Promise<readonly ActiveBundle[]> {
  const { config, env, workspace } = environment;
  const places = bundlePlaces(config.state, workspace);
  if (!mayHaveBundles(places)) return [];
  try {
    const [{ activeBundles }, { openShelf }] = await Promise.all([import('../bundles/active.ts'), import('../bundles/shelf.ts')]);
    const shelf = openShelf({ places, hash, env, warn: () => {} });
    return (await activeBundles({ shelf, places, hash, configs: {} })).bundles;
  } catch (error) {
    edges.log('warning', `the skills of plugins are left out: ${error instanceof Error ? error.message : String(error)}`);
    return [];
  }
}
