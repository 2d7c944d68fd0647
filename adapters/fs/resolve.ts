import { lstatSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { FileKind, ResolvedPath } from '../../ports/file-system.ts';
import { isCredentialIn } from './credentials.ts';
import { asFileError, errnoOf, fileError } from './errors.ts';

/** Folders of the state that hold no trust anchor. */
const OPEN_STATE = new Set(['media', 'artifacts']);
const MAX_LINKS = 40;
const MAX_PATH = 4096;

export interface Places {
  /** Absolute, links resolved. */
  readonly root: string;
  /** Absolute, as it was given. */
  readonly stateDir: string;
  /** The same with its links resolved, found out once. */
  realStateDir(): string;
}

export function createPlaces(root: string, stateDir: string): Places {
  let real: string | undefined;
  return {
    root,
    stateDir,
    realStateDir() {
      real ??= realOf(stateDir, MAX_LINKS);
      return real;
    },
  };
}

/**
 * Says where a path leads. The kernel answers from what it has at hand, in microseconds; a wait for
 * another thread would cost fifty times as much, twice a call. Rejects with `FileError` for a path that no file can have and for a loop of links.
 */
export async function resolvePath(requested: string, places: Places): Promise<ResolvedPath> {
  if (typeof requested !== 'string' || requested === '' || requested.includes('\0') || requested.length > MAX_PATH) {
    throw fileError('invalid_path', String(requested));
  }
  const absolute = resolve(places.root, requested);
  try {
    const self = lstatIfThere(absolute);
    const real = realOf(absolute, MAX_LINKS);
    const realState = places.realStateDir();
    const target = self && !self.isSymbolicLink() && real === absolute ? self : lstatIfThere(real);
    return {
      requested,
      absolute,
      real,
      exists: target !== undefined,
      ...(target === undefined ? {} : { kind: kindOf(target), size: target.size, modifiedAt: Math.trunc(target.mtimeMs) }),
      finalLink: self?.isSymbolicLink() ?? false,
      inRoot: isWithin(places.root, real),
      inState: isTrustAnchor(real, realState) || isTrustAnchor(absolute, places.stateDir),
      credential: isCredentialIn(places.root, real) || isCredentialIn(places.root, absolute),
    };
  } catch (error) {
    throw asFileError(error, requested);
  }
}

/** Whether `path` is `folder` or lies below it. Both absolute and normalised. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

export function kindOf(
  stats: Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket' | 'isBlockDevice' | 'isCharacterDevice'>,
): FileKind {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  if (stats.isSymbolicLink()) return 'link';
  if (stats.isFIFO()) return 'fifo';
  if (stats.isSocket()) return 'socket';
  return stats.isBlockDevice() || stats.isCharacterDevice() ? 'device' : 'other';
}

/** Case is ignored, because the file system may ignore it too. */
function isTrustAnchor(path: string, stateDir: string): boolean {
  const state = stateDir.toLowerCase();
  const lower = path.toLowerCase();
  if (!isWithin(state, lower)) return false;
  const [first = ''] = relative(state, lower).split(sep);
  return !OPEN_STATE.has(first);
}

/** `realpath` for paths that may not exist: links are followed as far as they go, the rest is appended. */
function realOf(path: string, linksLeft: number): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const code = errnoOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
  }
  const parent = dirname(path);
  if (parent === path) return path;
  if (linksLeft === 0) throw fileError('invalid_path', path);
  const realParent = realOf(parent, linksLeft);
  const here = join(realParent, basename(path));
  const target = linkTarget(here);
  return target === undefined ? here : realOf(resolve(realParent, target), linksLeft - 1);
}

/** Where a link leads; undefined for anything else, and for what is gone. */
function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'EINVAL' || code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}

function lstatIfThere(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw error;
  }
}
