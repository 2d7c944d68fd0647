import { constants } from 'node:fs';
import { access, lstat, open, rename, unlink } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { CancelledError } from '../../ports/errors.ts';
import type { ResolvedPath } from '../../ports/file-system.ts';
import { type Anchor, descend } from './anchor.ts';
import { errnoOf, fileError } from './errors.ts';
import { kindOf } from './resolve.ts';

/** Bits of a mode that a replaced file keeps. */
const PERMISSION_BITS = 0o777;
const NEW_FILE_MODE = 0o666;
const PRIVATE_MODE = 0o600;
let temporaryCount = 0;

/** Puts `data` at a path that was checked to lie inside `root`: a temporary file in the same folder, flushed, then renamed over the old one. */
export async function writeAtomically(root: string, target: ResolvedPath, data: string | Uint8Array, signal?: AbortSignal): Promise<void> {
  const anchor = await descend(root, dirname(target.real), target.requested);
  try {
    await replace(anchor, basename(target.real), target.requested, data, signal);
  } finally {
    await anchor.handle.close();
  }
}

async function replace(anchor: Anchor, name: string, requested: string, data: string | Uint8Array, signal?: AbortSignal): Promise<void> {
  const mode = await modeToKeep(anchor.entry(name), requested);
  const temporary = anchor.entry(temporaryName(name));
  try {
    await fill(temporary, data, mode, signal);
    if (signal?.aborted) throw new CancelledError();
    await rename(temporary, anchor.entry(name));
  } catch (error) {
    await unlink(temporary).catch(() => {});
    throw error;
  }
  await anchor.handle.sync().catch(ignoreUnsupported);
}

async function fill(path: string, data: string | Uint8Array, mode: number | undefined, signal?: AbortSignal): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  const handle = await open(path, flags, mode === undefined ? NEW_FILE_MODE : PRIVATE_MODE);
  try {
    await handle.writeFile(data, signal ? { signal } : undefined);
    if (mode !== undefined) await handle.chmod(mode);
    await handle.sync();
  } catch (error) {
    throw signal?.aborted ? new CancelledError('cancelled', { cause: error }) : error;
  } finally {
    await handle.close();
  }
}

/** Mode of the file that is replaced; undefined when there is none. Refuses what a rename would wrongly replace. */
async function modeToKeep(path: string, requested: string): Promise<number | undefined> {
  try {
    const stats = await lstat(path);
    const kind = kindOf(stats);
    if (kind === 'link') throw fileError('final_link', requested);
    if (kind === 'directory') throw fileError('is_directory', requested);
    if (kind !== 'file') throw fileError('not_regular_file', requested);
    await access(path, constants.W_OK);
    return stats.mode & PERMISSION_BITS;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Short, because the name it stands for may already be as long as a name can be. */
function temporaryName(name: string): string {
  temporaryCount += 1;
  return `.${name.slice(0, 40)}.${process.pid}-${temporaryCount}.tmp`;
}

/** Some file systems cannot flush a folder; the file itself is flushed already. */
function ignoreUnsupported(error: unknown): void {
  const code = errnoOf(error);
  if (code !== 'EINVAL' && code !== 'ENOTSUP' && code !== 'EISDIR' && code !== 'EPERM') throw error;
}
