import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { CancelledError, hasCode } from '../../ports/errors.ts';
import type { DirectoryEntry, ListOptions } from '../../ports/file-system.ts';
import { type Anchor, openDirectory } from './anchor.ts';
import { isCredentialIn } from './credentials.ts';
import { asFileError } from './errors.ts';
import { kindOf } from './resolve.ts';

const STATS_AT_ONCE = 64;

interface Level {
  readonly real: string;
  readonly prefix: string;
  readonly entries: readonly DirectoryEntry[];
  next: number;
}

/** Entries below `real` in name order, a folder before what is in it. A folder that cannot be read is listed but not entered. */
export async function* listDirectory(
  root: string,
  real: string,
  requested: string,
  options: ListOptions,
  signal?: AbortSignal,
): AsyncIterable<DirectoryEntry> {
  const levels: Level[] = [await openLevel(root, real, '', requested, options, signal)];
  for (let level = levels.at(-1); level; level = levels.at(-1)) {
    if (signal?.aborted) throw new CancelledError();
    const entry = level.entries[level.next];
    level.next += 1;
    if (!entry) {
      levels.pop();
      continue;
    }
    yield entry;
    if (entry.kind !== 'directory' || levels.length >= options.depth) continue;
    const name = entry.path.slice(level.prefix.length);
    const below = await openLevel(root, join(level.real, name), `${entry.path}/`, requested, options, signal).catch(unlessCancelled);
    if (below) levels.push(below);
  }
}

async function openLevel(
  root: string,
  real: string,
  prefix: string,
  requested: string,
  options: ListOptions,
  signal?: AbortSignal,
): Promise<Level> {
  try {
    return { real, prefix, entries: await entriesOf(root, real, prefix, requested, options, signal), next: 0 };
  } catch (error) {
    throw asFileError(error, requested);
  }
}

function unlessCancelled(error: unknown): undefined {
  if (hasCode(error, 'cancelled')) throw error;
}

async function entriesOf(
  root: string,
  real: string,
  prefix: string,
  requested: string,
  options: ListOptions,
  signal?: AbortSignal,
): Promise<DirectoryEntry[]> {
  if (signal?.aborted) throw new CancelledError();
  const anchor = await openDirectory(real, requested);
  try {
    const found = await readdir(anchor.entry('.'), { withFileTypes: true });
    const kept = found.filter((entry) => !options.skip?.(entry.name, kindOf(entry)));
    kept.sort((a, b) => (a.name < b.name ? -1 : 1));
    const entries: DirectoryEntry[] = [];
    for (let start = 0; start < kept.length; start += STATS_AT_ONCE) {
      if (signal?.aborted) throw new CancelledError();
      const batch = await Promise.all(kept.slice(start, start + STATS_AT_ONCE).map((entry) => describe(root, real, anchor, prefix, entry)));
      entries.push(...batch.filter((entry) => entry !== undefined));
    }
    return entries;
  } finally {
    await anchor.handle.close();
  }
}

/** Undefined for what vanished meanwhile. */
async function describe(root: string, real: string, anchor: Anchor, prefix: string, entry: Dirent): Promise<DirectoryEntry | undefined> {
  try {
    const stats = await lstat(anchor.entry(entry.name));
    return {
      path: `${prefix}${entry.name}`,
      kind: kindOf(stats),
      size: stats.size,
      modifiedAt: Math.trunc(stats.mtimeMs),
      credential: isCredentialIn(root, join(real, entry.name)),
    };
  } catch {
    return undefined;
  }
}
