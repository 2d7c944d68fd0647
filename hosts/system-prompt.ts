import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { arch, platform, release } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import { isCredential } from '../core/danger/sensitive.ts';
import { scanInjection } from '../core/injection/scan.ts';
import { composeSystemPrompt } from '../core/prompt/system.ts';
import { wrapUntrusted } from '../core/untrusted/wrapper.ts';
import type { ResolvedConfig } from './config/types.ts';

/** Bytes of an identity file or of a project's notes; a longer file is left out with a warning. */
const MAX_SOURCE_BYTES = 262_144;
const PROJECT_FILE = 'AGENTS.md';
/** Characters of wrapped notes: with the wrapper's tags they fit what the prompt takes. */
const MAX_WRAPPED_NOTES = 32_000;
const ABSENT = new Set<unknown>(['ENOENT', 'ENOTDIR']);

/** Where a project's file has to lie, and odek's own state, which may be a folder of it. */
interface Project {
  readonly workspace: string;
  readonly stateDir: string;
}

/** Why the file's text cannot be used; undefined when it can. */
async function faultOf(handle: FileHandle, path: string, project: Project | undefined): Promise<string | undefined> {
  const { size, isFile } = await handle.stat().then((stats) => ({ size: stats.size, isFile: stats.isFile() }));
  if (!isFile) return 'it is not a regular file';
  if (size > MAX_SOURCE_BYTES) return `${size} bytes, the limit is ${MAX_SOURCE_BYTES}`;
  if (project === undefined) return undefined;
  // What a project links to from outside itself is not the project's to send away, and neither is a secret that lies in it.
  const real = await realpath(path);
  const inside = relative(await realpath(project.workspace), real);
  if (leadsOut(inside)) return 'it is a link that leads out of the working directory';
  const state = await realpath(project.stateDir).catch(() => project.stateDir);
  if (!leadsOut(relative(state, real))) return "it is a link into odek's own state";
  return isCredential(inside, false) ? 'it is a link to a credential file' : undefined;
}

function leadsOut(path: string): boolean {
  return path.startsWith('..') || isAbsolute(path);
}

/** The text of a file that need not be there. With `project` it has to be a file of that project. */
async function readOptional(path: string, warn: (text: string) => void, project?: Project): Promise<string | undefined> {
  let handle: FileHandle | undefined;
  try {
    // Without waiting: opening a named pipe would hang until somebody writes to it.
    handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const fault = await faultOf(handle, path, project);
    if (fault === undefined) return (await handle.readFile('utf8')).trim() || undefined;
    warn(`${path} is left out: ${fault}`);
  } catch (error) {
    if (!ABSENT.has((error as NodeJS.ErrnoException).code)) warn(`${path} cannot be read: ${(error as Error).message}`);
  } finally {
    await handle?.close();
  }
  return undefined;
}

/** The names of the rules that a text hits; empty for a text that reads like no attack. */
function rulesHit(text: string): string {
  return scanInjection(text)
    .map(({ rule }) => rule)
    .join(', ');
}

/** The operator's own words, unless they are too many or read like somebody else's: then odek's identity stands. */
async function identityOf(config: ResolvedConfig, warn: (text: string) => void): Promise<string | undefined> {
  const source = config.system === undefined ? config.state.identityFile : 'system';
  const text = config.system ?? (await readOptional(source, warn));
  if (text === undefined) return undefined;
  const bytes = Buffer.byteLength(text);
  const hit = rulesHit(text);
  const fault = bytes > MAX_SOURCE_BYTES ? `${bytes} bytes, the limit is ${MAX_SOURCE_BYTES}` : hit && `it reads like an attack (${hit})`;
  if (!fault) return text;
  warn(`${source} is left out: ${fault}; odek's own identity is used`);
  return undefined;
}

/** The project's notes; what reads like an attack is handed on as data, not as notes. */
async function notesOf(project: Project, warn: (text: string) => void): Promise<string | undefined> {
  const path = join(project.workspace, PROJECT_FILE);
  const text = await readOptional(path, warn, project);
  const hit = text === undefined ? '' : rulesHit(text);
  if (text === undefined || hit === '') return text;
  warn(`${path} reads like an attack (${hit}); the model gets it as untrusted data`);
  return wrapUntrusted(text.slice(0, MAX_WRAPPED_NOTES), PROJECT_FILE, randomBytes(8).toString('hex'));
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
  const identity = await identityOf(config, warn);
  const projectNotes = config.no_agents ? undefined : await notesOf({ workspace: place.workspace, stateDir: config.state.home }, warn);
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
