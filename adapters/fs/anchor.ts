import { closeSync, constants, existsSync, fstatSync, openSync, readlinkSync } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, realpath } from 'node:fs/promises';
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

/**
 * Opens `real`, a path without links, for reading, and proves that the opened file is the one at that
 * path. Returns a descriptor. Opening without waiting is done before another thread could be woken.
 */
export async function openVerified(real: string, requested: string): Promise<number> {
  for (let triesLeft = OPEN_TRIES; ; triesLeft -= 1) {
    const descriptor = openSync(real, constants.O_RDONLY | NO_FOLLOW | NO_WAIT);
    try {
      await proveAt(descriptor, real, requested);
      return descriptor;
    } catch (error) {
      closeSync(descriptor);
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

/** The handle, once it is proven; closed otherwise. */
async function verified(handle: FileHandle, path: string, requested: string): Promise<FileHandle> {
  try {
    await proveAt(handle.fd, path, requested);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Throws `FileError` unless the open file is what lies at `path` now. */
async function proveAt(descriptor: number, path: string, requested: string): Promise<void> {
  let there = false;
  try {
    there = await liesAt(descriptor, path);
  } catch (error) {
    throw errnoOf(error) === 'ENOENT' ? fileError('outside_root', requested, error, SWAPPED) : error;
  }
  if (!there) throw fileError('outside_root', requested, undefined, SWAPPED);
}

/** Questions about an open descriptor are answered by the kernel at once, so they need no other thread. */
async function liesAt(descriptor: number, path: string): Promise<boolean> {
  if (HAS_PROC && readlinkSync(`/proc/self/fd/${descriptor}`) === path) return true;
  const opened = fstatSync(descriptor, { bigint: true });
  const [there, real] = await Promise.all([lstat(path, { bigint: true }), realpath(path)]);
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
