import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isOwnerGone, writeOwner } from './owners.ts';

/** Folders of one session that stand for the temporary and the home folder inside. */
export interface OwnFolders {
  /** Made with the first call. Throws what the file system does. */
  paths(): { readonly tmp: string; readonly home: string };
  /** Idempotent. */
  remove(): void;
}

/** Left-over sessions looked at in one start. */
const MAX_SESSIONS = 1000;
const OWNER = 'owner.json';

/** Below `stateDir`, so that the next start finds what a killed odek left. The home holds `gitConfig`, unless that is empty. */
export function openOwnFolders(stateDir: string, gitConfig: string): OwnFolders {
  const root = join(stateDir, 'sandbox');
  let made: { readonly folder: string; readonly tmp: string; readonly home: string } | undefined;
  const remove = (): void => {
    if (made === undefined) return;
    process.off('exit', remove);
    removeFolder(made.folder);
    made = undefined;
  };
  return {
    paths() {
      if (made !== undefined) return made;
      removeLeft(root);
      const folder = join(root, randomBytes(8).toString('hex'));
      const [tmp, own] = [join(folder, 'tmp'), join(folder, 'home')];
      for (const each of [tmp, own]) mkdirSync(each, { recursive: true, mode: 0o700 });
      writeOwner(join(folder, OWNER));
      if (gitConfig !== '') writeFileSync(join(own, '.gitconfig'), gitConfig, { mode: 0o600 });
      made = { folder, tmp, home: own };
      process.on('exit', remove);
      return made;
    },
    remove,
  };
}

/** Removes the folders of processes that are gone. */
function removeLeft(root: string): void {
  for (const name of namesIn(root).slice(0, MAX_SESSIONS)) {
    if (/^[0-9a-f]{16}$/.test(name) && isOwnerGone(join(root, name, OWNER))) removeFolder(join(root, name));
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 2 });
  } catch {
    // A file that cannot be removed must not end a run; the next start tries again.
  }
}
