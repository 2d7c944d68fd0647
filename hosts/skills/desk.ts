import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Hash } from '../../ports/hash.ts';
import { bundlePlaces, mayHaveBundles } from '../bundles/places.ts';
import type { Edges, HostEnvironment } from '../environment.ts';
import { isWanted } from '../tool-filter.ts';
import type { SkillDesk, SkillFolders } from './skill-desk.ts';

const TOOLS = ['skill_list', 'skill_load'];

function skillFolders({ config, env, workspace }: Pick<HostEnvironment, 'config' | 'env' | 'workspace'>): SkillFolders {
  const home = env.HOME ?? homedir();
  return {
    user: join(config.state.home, 'skills'),
    configured: config.skills.dirs.map((folder) => resolve(folder.replace(/^~(?=\/|$)/, () => home))),
    project: join(workspace, '.odek', 'skills'),
  };
}

/**
 * Undefined where neither tool is wanted, and where there is nothing to look into: no folder of skills, and
 * no plugin that is on and has any, or whose code names the call that registers them. Whoever has none pays
 * a few looks at the disk.
 */
export async function openSkillDesk(environment: HostEnvironment, edges: Edges, hash: Hash): Promise<SkillDesk | undefined> {
  const { config, workspace, builtIns } = environment;
  const isOffered = (builtIns?.includes('skills') ?? true) && TOOLS.some((tool) => isWanted(config.tools, [tool]));
  if (!isOffered) return undefined;
  const folders = skillFolders(environment);
  const hasFolder = [folders.user, ...folders.configured, folders.project].some((folder) => existsSync(folder));
  const hasBundles = mayHaveBundles(bundlePlaces(config.state, workspace));
  if (!hasFolder && !hasBundles) return undefined;
  const { createSkillDesk } = await import('./open.ts');
  const desk = await createSkillDesk({ environment, edges, hash, folders });
  return hasFolder || (await desk.hasPluginRoots()) ? desk : undefined;
}
