import { constants, existsSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { hasCode } from '../../ports/errors.ts';
import { errnoOf, fileError } from './errors.ts';

/** Flags that the platform may lack are zero. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
/** Opening a fifo or a device never waits. */
const NO_WAIT = constants.O_NONBLOCK ?? 0;
const DIRECTORY = constants.O_DIRECTORY ?? 0;
/** A file that is replaced between opening and proving is opened again. */
const OPEN_TRIES = 3;
const SWAPPED = 'led elsewhere when it was opened than when it was checked';
const HAS_PROC = existsSync('/proc/self/fd');

/** An open directory. `entry` names something inside it; where the system allows, through the handle, so that no later swap of a parent matters. */
export interface Anchor {
  readonly handle: FileHandle;
  readonly path: string;
  entry(name: string): string;
}

/** Opens `real`, a path without links, for reading, and proves that the opened file is the one at that path. */
export async function openVerified(real: string, requested: string): Promise<FileHandle> {
  for (let triesLeft = OPEN_TRIES; ; triesLeft -= 1) {
    try {
      return await verified(await open(real, constants.O_RDONLY | NO_FOLLOW | NO_WAIT), real, requested);
    } catch (error) {
      if (triesLeft <= 1 || !hasCode(error, 'outside_root')) throw error;
    }
  }
}

/** Opens the directory `real`, a path without links. */
export async function openDirectory(real: string, requested: string): Promise<Anchor> {
  const handle = await open(real, constants.O_RDONLY | DIRECTORY | NO_FOLLOW | NO_WAIT);
  return anchorOf(await verified(handle, real, requested), real);
}

/** Opens the directory `real` below `root` one level at a time, making what is missing. A link on the way is refused. */
export async function descend(root: string, real: string, requested: string): Promise<Anchor> {
  let anchor = await openDirectory(root, requested);
  for (const name of relative(root, real).split(sep).filter(Boolean)) {
    const parent = anchor;
    try {
      const path = join(parent.path, name);
      anchor = anchorOf(await verified(await openOrMake(parent.entry(name)), path, requested), path);
    } finally {
      await parent.handle.close();
    }
  }
  return anchor;
}

/** Throws `FileError` unless the handle is still what lies at `path`; closes the handle then. */
async function verified(handle: FileHandle, path: string, requested: string): Promise<FileHandle> {
  try {
    if (await liesAt(handle, path)) return handle;
    throw fileError('outside_root', requested, undefined, SWAPPED);
  } catch (error) {
    await handle.close();
    throw errnoOf(error) === 'ENOENT' ? fileError('outside_root', requested, error, SWAPPED) : error;
  }
}

async function liesAt(handle: FileHandle, path: string): Promise<boolean> {
  if (HAS_PROC && (await readlink(`/proc/self/fd/${handle.fd}`)) === path) return true;
  const [opened, there, real] = await Promise.all([handle.stat({ bigint: true }), lstat(path, { bigint: true }), realpath(path)]);
  return real === path && opened.dev === there.dev && opened.ino === there.ino;
}

function anchorOf(handle: FileHandle, path: string): Anchor {
  return { handle, path, entry: (name) => (HAS_PROC ? `/proc/self/fd/${handle.fd}/${name}` : join(path, name)) };
}

async function openOrMake(path: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | DIRECTORY | NO_FOLLOW | NO_WAIT;
  try {
    return await open(path, flags);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
  try {
    await mkdir(path);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
  return open(path, flags);
}
