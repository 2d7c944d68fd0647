import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, realpath } from 'node:fs/promises';
import { isAbsolute, sep } from 'node:path';
import {
  ArtifactError,
  type ArtifactFile,
  type ArtifactFiles,
  type ArtifactLookup,
  type ArtifactPageLookup,
} from '../../ports/artifact.ts';
import { CancelledError, isOdekError } from '../../ports/errors.ts';

const CHUNK_BYTES = 64 * 1024;
/** Without O_NONBLOCK, opening a pipe waits for its writer. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MISSING: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG']);

function outside(): ArtifactError {
  return new ArtifactError('artifact_outside_roots', 'the file lies outside the artifact roots');
}

function changed(): ArtifactError {
  return new ArtifactError('artifact_changed', 'the file is not the one that was handed over: its content has changed');
}

/** An error of the system names the path, so none of it is told. */
function toArtifactError(error: unknown): Error {
  if (isOdekError(error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (MISSING.has(code)) return new ArtifactError('artifact_missing', 'there is no such file', { value: code });
  return new ArtifactError('artifact_unreadable', `the file cannot be read (${code ?? 'unknown error'})`, { value: code });
}

async function realRoots(roots: readonly string[]): Promise<readonly string[]> {
  const found = roots.filter((root) => root.trim() !== '' && isAbsolute(root)).map((root) => realpath(root).catch(() => undefined));
  return (await Promise.all(found)).filter((root) => root !== undefined);
}

async function placeOf({ path, roots }: ArtifactLookup): Promise<string> {
  const folders = await realRoots(roots);
  const holds = (places: readonly string[], file: string): boolean =>
    places.some((folder) => file.startsWith(folder.endsWith(sep) ? folder : folder + sep));
  // A path that does not even begin in a root is not looked at, so that nobody learns what is there.
  if (folders.length === 0 || !holds([...folders, ...roots.filter(isAbsolute)], path)) throw outside();
  const real = await realpath(path);
  if (!holds(folders, real)) throw outside();
  return real;
}

/** Opens the file that was looked at: one that took its place meanwhile has another inode or another real path. */
async function openChecked(lookup: ArtifactLookup): Promise<{ readonly file: FileHandle; readonly path: string; readonly size: number }> {
  const path = await placeOf(lookup);
  const seen = await lstat(path);
  if (!seen.isFile()) throw new ArtifactError('artifact_not_regular', 'it is no regular file');
  const file = await open(path, OPEN_FLAGS);
  try {
    const opened = await file.stat();
    if (!opened.isFile()) throw new ArtifactError('artifact_not_regular', 'it is no regular file');
    if (opened.ino !== seen.ino || opened.dev !== seen.dev || (await placeOf(lookup)) !== path) throw changed();
    checkSize(opened.size, lookup.maxBytes);
    return { file, path, size: opened.size };
  } catch (error) {
    await file.close();
    throw error;
  }
}

function checkSize(size: number, limit: number): void {
  if (size <= limit) return;
  throw new ArtifactError('artifact_too_large', `the file has ${size} bytes, the limit is ${limit}`, { value: size, limit });
}

/** Reads the file once, in chunks of one buffer. `each` must not keep the chunk. */
async function readThrough(
  file: FileHandle,
  { maxBytes, signal }: ArtifactLookup,
  each: (chunk: Uint8Array, at: number) => void,
): Promise<{ readonly sizeBytes: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let at = 0;
  for (;;) {
    if (signal.aborted) throw new CancelledError();
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, at);
    if (bytesRead === 0) return { sizeBytes: at, sha256: hash.digest('hex') };
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    each(chunk, at);
    at += bytesRead;
    // It may grow while it is read.
    checkSize(at, maxBytes);
  }
}

async function measure(lookup: ArtifactLookup): Promise<ArtifactFile> {
  const { file, path, size } = await openChecked(lookup);
  try {
    const found = await readThrough(file, lookup, () => {});
    if (found.sizeBytes !== size) throw changed();
    return { path, ...found };
  } finally {
    await file.close();
  }
}

async function page(lookup: ArtifactPageLookup): Promise<Uint8Array> {
  const { file } = await openChecked(lookup);
  const { offset, length } = lookup;
  const parts: Buffer[] = [];
  try {
    const { sha256 } = await readThrough(file, lookup, (chunk, at) => {
      const from = Math.max(0, offset - at);
      const to = Math.min(chunk.length, offset + length - at);
      if (from < to) parts.push(Buffer.from(chunk.subarray(from, to)));
    });
    if (sha256 !== lookup.sha256) throw changed();
    return Buffer.concat(parts);
  } finally {
    await file.close();
  }
}

async function guarded<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  if (signal.aborted) throw new CancelledError();
  try {
    return await work();
  } catch (error) {
    throw toArtifactError(error);
  }
}

/** {@link ArtifactFiles} on the file system. A file is read once for each question, with one buffer of 64 KiB. */
export function createArtifactFiles(): ArtifactFiles {
  return {
    measure: (lookup) => guarded(lookup.signal, () => measure(lookup)),
    page: (lookup) => guarded(lookup.signal, () => page(lookup)),
  };
}
