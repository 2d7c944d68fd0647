import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';

/** All of that name on a search path, in its order, except what a project brought along in `workspace`. */
export function findPrograms(name: string, path: string | undefined, workspace: string): readonly string[] {
  const found: string[] = [];
  for (const folder of (path ?? '').split(':').filter(isAbsolute)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      const real = realpathSync(file);
      if (statSync(real).isFile() && !isWithin(real, workspace) && !isWithin(file, workspace)) found.push(file);
    } catch {
      // It is not there, or not to be run.
    }
  }
  return found;
}

/** Whether `path` is `folder` or lies in it. `/` holds nothing here: it would hold everything. */
export function isWithin(path: string, folder: string): boolean {
  return folder !== sep && (path === folder || path.startsWith(folder + sep));
}
