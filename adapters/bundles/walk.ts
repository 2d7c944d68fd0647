import { constants, type Stats } from 'node:fs';
import { lstat, open, opendir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { BundleError } from '../../ports/bundle.ts';
import { CancelledError } from '../../ports/errors.ts';
import type { Hash } from '../../ports/hash.ts';

/** One file of a bundle as it was read. */
export interface WalkedFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  readonly executable: boolean;
}

export interface WalkOptions {
  readonly hash: Hash;
  readonly limits: { readonly files: number; readonly hashedBytes: number };
  /** Why a name cannot be one of a bundle; undefined for one that can. */
  nameProblem(path: string): string | undefined;
  /** Is given each file with exactly the bytes that were hashed. */
  onFile?(file: WalkedFile, bytes: Uint8Array): Promise<void> | void;
  readonly signal?: AbortSignal;
}

/** Never part of a bundle: what a checkout keeps for itself. */
const SKIPPED = new Set(['.git']);
/** Links count too where one is refused: nothing may be reached that is not in the folder. */
const OPEN = constants.O_RDONLY | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0);

/**
 * Reads every file of a bundle once, in the order of the paths. Links, files with a second name, devices,
 * names that hide something, and more than the bounds are refused with a {@link BundleError} that names the path.
 */
export async function walkBundle(folder: string, options: WalkOptions): Promise<readonly WalkedFile[]> {
  const root = await rootOf(folder);
  const found: WalkedFile[] = [];
  let [bytesRead, seen] = [0, 0];
  const folders = [''];
  for (let inner = folders.pop(); inner !== undefined; inner = folders.pop()) {
    for (const name of await namesIn(join(root, inner), options.limits.files - seen)) {
      if (options.signal?.aborted === true) throw new CancelledError('reading the plugin was cancelled');
      if (inner === '' && SKIPPED.has(name)) continue;
      seen++;
      const path = inner === '' ? name : `${inner}/${name}`;
      const problem = options.nameProblem(path);
      if (problem !== undefined) throw refused(path, `cannot be part of a plugin: ${problem}`);
      const stat = await lstat(join(root, path));
      if (stat.isDirectory()) folders.push(path);
      else {
        const { file, bytes } = await readOne(root, path, stat, options, options.limits.hashedBytes - bytesRead);
        bytesRead += file.size;
        found.push(file);
        await options.onFile?.(file, bytes);
      }
    }
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function rootOf(folder: string): Promise<string> {
  const stat = await lstat(folder).catch(() => undefined);
  if (stat === undefined) throw new BundleError('plugin_not_found', `there is no folder ${folder}`, { value: folder });
  if (stat.isSymbolicLink()) throw refused(folder, 'is a link; name the folder itself');
  if (!stat.isDirectory()) throw refused(folder, 'is no folder');
  return realpath(folder);
}

async function namesIn(folder: string, most: number): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of await opendir(folder)) {
    if (names.length >= most)
      throw new BundleError('plugin_too_large', `the plugin has too many files and folders in ${folder}`, { limit: most });
    names.push(name);
  }
  return names.sort();
}

async function readOne(
  root: string,
  path: string,
  listed: Stats,
  { hash }: Pick<WalkOptions, 'hash'>,
  room: number,
): Promise<{ readonly file: WalkedFile; readonly bytes: Uint8Array }> {
  if (listed.isSymbolicLink()) throw refused(path, 'is a link; a plugin holds files alone');
  if (!listed.isFile()) throw refused(path, 'is no regular file');
  const handle = await open(join(root, path), OPEN).catch((error: NodeJS.ErrnoException) => {
    throw refused(path, `cannot be read (${error.code})`);
  });
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw refused(path, 'is no regular file');
    if (stat.nlink > 1) throw refused(path, 'has a second name (a hard link); copy the file');
    if (stat.size > room) throw tooLarge(path, room);
    // A folder above may have become a link since it was listed: what was opened must lie where it was looked for.
    const there = (await realpath(join(root, path)).catch(() => '')) === join(root, path) ? await lstat(join(root, path)) : undefined;
    if (there?.ino !== stat.ino || there.dev !== stat.dev) throw refused(path, 'changed while it was read');
    const bytes = await readUpTo(handle, stat.size, path);
    const file = { path, size: bytes.length, sha256: hash.sha256(bytes), executable: (stat.mode & 0o100) !== 0 };
    return { file, bytes };
  } finally {
    await handle.close();
  }
}

async function readUpTo(handle: Awaited<ReturnType<typeof open>>, size: number, path: string): Promise<Uint8Array> {
  const bytes = new Uint8Array(size);
  let at = 0;
  while (at < size) {
    const { bytesRead } = await handle.read(bytes, at, size - at, at);
    if (bytesRead === 0) throw refused(path, 'changed while it was read');
    at += bytesRead;
  }
  const { bytesRead } = await handle.read(new Uint8Array(1), 0, 1, size);
  if (bytesRead > 0) throw refused(path, 'changed while it was read');
  return bytes;
}

function refused(path: string, why: string): BundleError {
  return new BundleError('plugin_refused', `${path} ${why}`, { value: path });
}

function tooLarge(path: string, room: number): BundleError {
  return new BundleError('plugin_too_large', `${path} makes the plugin larger than the limit`, { value: path, limit: room });
}
