import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { isWithin } from './readable.ts';

/** The first of that name on the search path. One that a project brought along in `workspace` is passed over. */
export function findProgram(name: string, path: string | undefined, workspace: string): string | undefined {
  for (const folder of (path ?? '').split(':').filter(isAbsolute)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      const real = realpathSync(file);
      if (statSync(real).isFile() && !isWithin(real, workspace) && !isWithin(file, workspace)) return file;
    } catch {
      // It is not there, or not to be run.
    }
  }
  return undefined;
}
