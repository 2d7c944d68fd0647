import { closeSync, fstatSync, read, readSync, realpathSync } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { CancelledError } from '../../ports/errors.ts';
import type { FileContent, FileStat, FileSystem, ListOptions, ResolvedPath } from '../../ports/file-system.ts';
import { openVerified } from './anchor.ts';
import { asFileError, fileError } from './errors.ts';
import { listDirectory } from './list.ts';
import { createPlaces, kindOf, resolvePath } from './resolve.ts';
import { writeAtomically } from './write.ts';

export interface DiskFileSystemOptions {
  /** The working directory; must exist. */
  readonly root: string;
  /** odek's own state; may not exist yet. */
  readonly stateDir: string;
  /** Called between the check of a path and its use, so that a race can be staged. */
  readonly checked?: (real: string) => void | Promise<void>;
}

/** Paths outside the root whose last check is remembered. */
const REMEMBERED = 1024;
const CHUNK_BYTES = 256 * 1024;
const MIN_CHUNK_BYTES = 4096;
/** What is read at once: waking another thread would take longer. */
const SMALL_BYTES = 64 * 1024;

/**
 * Files on disk. Where a path leads is checked again at every use, and what was opened is proven to
 * be what was checked. Outside the root, only what the last `resolve` of that path (or of a folder
 * above it) reported is read: a link that is swapped after a check leads nowhere.
 */
export function createDiskFileSystem(options: DiskFileSystemOptions): FileSystem {
  const places = createPlaces(realRoot(options.root), resolve(options.stateDir));
  const outside = createOutsideMemory();

  const locate = async (path: string): Promise<ResolvedPath> => {
    const target = await resolvePath(path, places);
    if (target.inState) throw fileError('trust_anchor', path);
    if (!target.inRoot && !outside.allows(target)) throw fileError('outside_root', path);
    return target;
  };

  return {
    async resolve(path) {
      const target = await resolvePath(path, places);
      outside.remember(target);
      return target;
    },
    stat: (path) => telling(path, async () => statOf(await locate(path))),
    read: (path, { maxBytes, signal }) =>
      telling(path, async () => {
        const target = await locate(path);
        if (target.finalLink) throw fileError('final_link', path);
        refuseUnlessFile(target);
        await options.checked?.(target.real);
        return readOpened(await openVerified(target.real, path), path, maxBytes, signal);
      }),
    write: (path, data, signal) =>
      telling(path, async () => {
        if (signal?.aborted) throw new CancelledError();
        const target = await locate(path);
        if (!target.inRoot) throw fileError('outside_root', path);
        if (target.finalLink) throw fileError('final_link', path);
        if (target.exists) refuseUnlessFile(target);
        await options.checked?.(target.real);
        await writeAtomically(places.root, target, data, signal);
      }),
    async *list(path, listOptions: ListOptions, signal) {
      const target = await telling(path, () => locate(path));
      if (target.finalLink) throw fileError('final_link', path);
      await options.checked?.(target.real);
      yield* listDirectory(places.root, target.real, path, listOptions, signal);
    },
  };
}

function realRoot(root: string): string {
  try {
    return realpathSync(resolve(root));
  } catch (error) {
    throw asFileError(error, root);
  }
}

async function telling<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asFileError(error, path);
  }
}

function refuseUnlessFile(target: ResolvedPath): void {
  if (!target.exists) throw fileError('not_found', target.requested);
  if (target.kind === 'directory') throw fileError('is_directory', target.requested);
  if (target.kind !== 'file') throw fileError('not_regular_file', target.requested);
}

async function statOf(target: ResolvedPath): Promise<FileStat> {
  const path = target.finalLink ? target.absolute : target.real;
  const stats = await lstat(path);
  return {
    path: target.requested,
    kind: kindOf(stats),
    size: stats.size,
    mode: stats.mode & 0o7777,
    modifiedAt: Math.trunc(stats.mtimeMs),
  };
}

const readChunk = promisify(read);

async function readOpened(descriptor: number, path: string, maxBytes: number, signal?: AbortSignal): Promise<FileContent> {
  try {
    const stats = fstatSync(descriptor);
    if (stats.isDirectory()) throw fileError('is_directory', path);
    if (!stats.isFile()) throw fileError('not_regular_file', path);
    const bytes = await readUpTo(descriptor, { expected: stats.size, maxBytes }, signal);
    return { bytes, size: Math.max(stats.size, bytes.length) };
  } finally {
    closeSync(descriptor);
  }
}

/** Reads to the end, which may lie elsewhere than expected, or to the bound. */
async function readUpTo(
  descriptor: number,
  { expected, maxBytes }: { expected: number; maxBytes: number },
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (length < maxBytes) {
    if (signal?.aborted) throw new CancelledError();
    // One byte more than expected, so that a short read tells the end.
    const wanted = Math.max(expected - length + 1, MIN_CHUNK_BYTES);
    const chunk = Buffer.allocUnsafe(Math.min(wanted, CHUNK_BYTES, maxBytes - length));
    const bytesRead =
      chunk.length <= SMALL_BYTES
        ? readSync(descriptor, chunk, 0, chunk.length, length)
        : (await readChunk(descriptor, chunk, 0, chunk.length, length)).bytesRead;
    chunks.push(chunk.subarray(0, bytesRead));
    length += bytesRead;
    // Files that the system makes up have no size and come in pieces.
    if (bytesRead === 0 || (bytesRead < chunk.length && expected > 0)) break;
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/** What the last check of each path outside the root saw. */
function createOutsideMemory() {
  const seen = new Map<string, string>();
  return {
    remember(target: ResolvedPath): void {
      seen.delete(target.absolute);
      if (target.inRoot || target.inState) return;
      seen.set(target.absolute, target.real);
      const oldest = seen.size > REMEMBERED ? seen.keys().next().value : undefined;
      if (oldest !== undefined) seen.delete(oldest);
    },
    allows(target: ResolvedPath): boolean {
      for (let folder = target.absolute; ; folder = dirname(folder)) {
        const real = seen.get(folder);
        if (real !== undefined) return join(real, relative(folder, target.absolute)) === target.real;
        if (folder === dirname(folder)) return false;
      }
    },
  };
}
