import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { isOwnerGone, writeOwner } from './owners.ts';

/** Which containers there are, on disk, so that the next start finds what a killed odek left. */
export interface ContainerRecords {
  /** Throws what the file system does. */
  add(name: string): void;
  remove(name: string): void;
  /** Names of containers whose odek is gone, each given once. */
  takeLeft(): readonly string[];
}

const NAME = /^(odek-[0-9a-f]{16})\.json$/;
const MAX_RECORDS = 1000;

export function openContainerRecords(folder: string): ContainerRecords {
  const remove = (name: string): void => rmSync(join(folder, `${name}.json`), { force: true });
  return {
    add(name) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeOwner(join(folder, `${name}.json`));
    },
    remove,
    takeLeft() {
      const left = namesIn(folder).filter((name) => isOwnerGone(join(folder, `${name}.json`)));
      left.forEach(remove);
      return left;
    },
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .flatMap((file) => NAME.exec(file)?.[1] ?? [])
      .slice(0, MAX_RECORDS);
  } catch {
    return [];
  }
}
