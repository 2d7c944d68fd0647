import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { arch, platform, release } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import { composeSystemPrompt } from '../core/prompt/system.ts';
import type { ResolvedConfig } from './config/types.ts';

/** Bytes of an identity file or of a project's notes; a longer file is left out with a warning. */
const MAX_SOURCE_BYTES = 262_144;
const PROJECT_FILE = 'AGENTS.md';
const ABSENT = new Set<unknown>(['ENOENT', 'ENOTDIR']);

/** Why the file's text cannot be used; undefined when it can. */
async function faultOf(handle: FileHandle, path: string, folder: string | undefined): Promise<string | undefined> {
  const { size, isFile } = await handle.stat().then((stats) => ({ size: stats.size, isFile: stats.isFile() }));
  if (!isFile) return 'it is not a regular file';
  if (size > MAX_SOURCE_BYTES) return `${size} bytes, the limit is ${MAX_SOURCE_BYTES}`;
  if (folder === undefined) return undefined;
  // What a project links to from outside itself is not the project's to send away.
  const inside = relative(await realpath(folder), await realpath(path));
  return inside.startsWith('..') || isAbsolute(inside) ? 'it is a link that leads out of the working directory' : undefined;
}

/** The text of a file that need not be there. With `folder` it has to lie in it. */
async function readOptional(path: string, warn: (text: string) => void, folder?: string): Promise<string | undefined> {
  let handle: FileHandle | undefined;
  try {
    // Without waiting: opening a named pipe would hang until somebody writes to it.
    handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const fault = await faultOf(handle, path, folder);
    if (fault === undefined) return (await handle.readFile('utf8')).trim() || undefined;
    warn(`${path} is left out: ${fault}`);
  } catch (error) {
    if (!ABSENT.has((error as NodeJS.ErrnoException).code)) warn(`${path} cannot be read: ${(error as Error).message}`);
  } finally {
    await handle?.close();
  }
  return undefined;
}

/**
 * The prompt a session begins with: the operator's identity (`system`, else `IDENTITY.md`, else
 * odek's own), the safety block, the project's notes unless `no_agents`, and a header that names the
 * machine's kind, the folder and the date.
 */
export async function buildSystemPrompt(
  config: ResolvedConfig,
  place: { readonly workspace: string; readonly surface: string; readonly now: number; readonly planning: boolean },
  warn: (text: string) => void,
): Promise<string> {
  const identity = config.system ?? (await readOptional(config.state.identityFile, warn));
  const projectNotes = config.no_agents ? undefined : await readOptional(join(place.workspace, PROJECT_FILE), warn, place.workspace);
  return composeSystemPrompt({
    ...(identity !== undefined && { identity }),
    ...(projectNotes !== undefined && { projectNotes }),
    planning: place.planning,
    workspace: place.workspace,
    platform: `${platform()} ${release()} ${arch()}`,
    date: new Date(place.now).toISOString().slice(0, 10),
    surface: place.surface,
  });
}
