import { readFile } from 'node:fs/promises';
import { arch, platform, release } from 'node:os';
import { join } from 'node:path';
import { composeSystemPrompt } from '../core/prompt/system.ts';
import type { ResolvedConfig } from './config/types.ts';

/** Characters of an identity file or of a project's notes; a longer file is left out with a warning. */
const MAX_SOURCE_CHARS = 262_144;
const PROJECT_FILE = 'AGENTS.md';

async function readOptional(path: string, warn: (text: string) => void): Promise<string | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') warn(`${path} cannot be read: ${(error as Error).message}`);
    return undefined;
  }
  if (text.length > MAX_SOURCE_CHARS) {
    warn(`${path} is left out: ${text.length} characters, the limit is ${MAX_SOURCE_CHARS}`);
    return undefined;
  }
  return text.trim() === '' ? undefined : text.trim();
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
  const projectNotes = config.no_agents ? undefined : await readOptional(join(place.workspace, PROJECT_FILE), warn);
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
