import { constants } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { DeliveryFault } from '../scheduler.ts';

const FLAGS = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MODE = 0o600;
/** A file that grew to this is not appended to any more. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
/** What the system answers when the disk is full or busy, or a folder is not there yet: later may be better. */
const PASSING = new Set(['ENOENT', 'ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE', 'EIO', 'EAGAIN', 'EBUSY']);

/** Whether `path` is `folder` or lies in it. Both absolute. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith('..') && !isAbsolute(way));
}

function refuse(path: string, why: string): never {
  throw new DeliveryFault(`file ${path} is not written: ${why}`, { retry: false });
}

function faultOf(path: string, error: unknown): DeliveryFault {
  if (error instanceof DeliveryFault) return error;
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  const why = code === 'ELOOP' ? 'it is a link' : code === 'ENOENT' ? 'its folder is not there' : code;
  return new DeliveryFault(`file ${path} is not written: ${why}`, { retry: PASSING.has(code), cause: error });
}

/** The folder that the file may lie in, and that folder as it really is; undefined for none. */
async function rootOf(path: string, folders: readonly string[]): Promise<{ folder: string; real: string } | undefined> {
  for (const each of folders) {
    const folder = resolve(each);
    if (!isInside(path, folder) || path === folder) continue;
    const real = await realpath(folder).catch(() => undefined);
    if (real !== undefined) return { folder, real };
  }
  return undefined;
}

/**
 * Appends to a file that lies in one of `folders` and in none of `forbidden`. Links below the folder are refused, and so is
 * anything but a regular file with one name. Makes the file with mode 0600, and no folder.
 * Rejects with {@link DeliveryFault}.
 */
export async function appendToFile(
  path: string,
  text: string,
  places: { readonly folders: readonly string[]; readonly forbidden: readonly string[] },
): Promise<void> {
  const root = await rootOf(path, places.folders);
  if (root === undefined) return refuse(path, `it lies in none of ${places.folders.join(', ')}`);
  const expected = join(root.real, relative(root.folder, dirname(path)));
  try {
    const parent = await realpath(dirname(path));
    if (parent !== expected) refuse(path, 'a folder on the way is a link');
    const real = join(parent, basename(path));
    for (const forbidden of places.forbidden) {
      const there = await realpath(forbidden).catch(() => resolve(forbidden));
      if (isInside(real, there)) refuse(path, `it lies in ${forbidden}, which is odek's own`);
    }
    const file = await open(real, FLAGS, MODE);
    try {
      const [held, named] = [await file.stat(), await lstat(path)];
      if (!held.isFile() || held.nlink !== 1) refuse(path, 'it is no regular file with one name');
      if (held.ino !== named.ino || held.dev !== named.dev) refuse(path, 'it was exchanged meanwhile');
      if (held.size > MAX_FILE_BYTES) refuse(path, `it has ${held.size} bytes, the limit is ${MAX_FILE_BYTES}`);
      await file.writeFile(text);
      await file.datasync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw faultOf(path, error);
  }
}
