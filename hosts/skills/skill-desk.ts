import type { SkillCatalogue } from '../../ports/skill.ts';
import type { PluginBoard } from '../plugin-host/board.ts';

/** The skills of a host. */
export interface SkillDesk {
  readonly catalogue: SkillCatalogue;
  /** From now on the folders that the code of plugins registered count too. */
  follow(board: Pick<PluginBoard, 'skillRoots'>): void;
}

/** Folders of skills that need no look into any plugin. */
export interface SkillFolders {
  readonly user: string;
  readonly configured: readonly string[];
  readonly project: string;
}
