import { constants } from 'node:fs';
import { type FileHandle, lstat, open, opendir, realpath } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes of one `SKILL.md`. */
export const SKILL_BYTES = 1024 * 1024;
const FILE = 'SKILL.md';
const SKILLS_PER_ROOT = 128;
const ENTRIES_PER_ROOT = 4096;
/** Without O_NONBLOCK, opening a pipe waits for its writer. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const MISSING: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR']);

/** Absolute; `within` is a folder below which no link may lead to it. */
interface Root {
  readonly folder: string;
  readonly within?: string;
}

/** Where a root really lies; undefined where it is not there, text where it is refused. */
async function placeOf({ folder, within }: Root): Promise<{ readonly real: string } | { readonly fault: string } | undefined> {
  try {
    const real = await realpath(folder);
    if (within === undefined) return { real };
    const expected = join(await realpath(within), folder.slice(within.length));
    return real === expected ? { real } : { fault: 'a link leads to it' };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return MISSING.has(code) ? undefined : { fault: `it cannot be read (${code ?? 'unknown error'})` };
  }
}

/** Names of the folders directly below a root, sorted; what is hidden, a file or a link is none. */
export async function skillNames(root: Root, tell: (text: string) => void): Promise<readonly string[]> {
  const place = await placeOf(root);
  if (place === undefined) return [];
  const leftOut = (why: string): readonly string[] => {
    tell(`the skills of ${root.folder} are left out: ${why}`);
    return [];
  };
  if ('fault' in place) return leftOut(place.fault);
  const names: string[] = [];
  try {
    let seen = 0;
    for await (const entry of await opendir(place.real)) {
      if (++seen > ENTRIES_PER_ROOT) return leftOut(`the folder has more than ${ENTRIES_PER_ROOT} entries`);
      if (entry.name.startsWith('.')) continue;
      if (entry.isSymbolicLink()) tell(`skill ${root.folder}/${entry.name} is left out: it is a link`);
      else if (entry.isDirectory()) names.push(entry.name);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return MISSING.has(code) ? [] : leftOut(`it cannot be read (${code ?? 'unknown error'})`);
  }
  if (names.length > SKILLS_PER_ROOT) tell(`${root.folder} has ${names.length} skills, the limit is ${SKILLS_PER_ROOT}`);
  return names.sort().slice(0, SKILLS_PER_ROOT);
}

/** The first `bytes` of a `SKILL.md`, or what is wrong with it. No link is followed below the root. */
export async function readSkillFile(
  root: Root,
  own: string,
  bytes: number,
): Promise<{ readonly text: string } | { readonly fault: string }> {
  const place = await placeOf(root);
  if (place === undefined) return { fault: 'it is gone' };
  if ('fault' in place) return place;
  const path = join(place.real, own, FILE);
  let file: FileHandle | undefined;
  try {
    file = await open(path, OPEN_FLAGS);
    const opened = await file.stat();
    const { size } = opened;
    if (!opened.isFile()) return { fault: `${FILE} is no regular file` };
    if (size > SKILL_BYTES) return { fault: `${FILE} has ${size} bytes, the limit is ${SKILL_BYTES}` };
    // Its folder may have become a link between the look at it and the opening.
    const { ino, dev } = await lstat(path);
    if (ino !== opened.ino || dev !== opened.dev || (await realpath(path)) !== path) return { fault: 'a link leads to it' };
    return { text: await textOf(file, Math.min(bytes, size), bytes >= size) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP') return { fault: `${FILE} is a link` };
    if (MISSING.has(code)) return { fault: `it has no ${FILE}` };
    if (error instanceof TypeError) return { fault: `${FILE} is no UTF-8 text` };
    return { fault: `${FILE} cannot be read (${code ?? 'unknown error'})` };
  } finally {
    await file?.close();
  }
}

/** Throws TypeError where it is no UTF-8. A part may end within a character. */
async function textOf(file: FileHandle, length: number, isWhole: boolean): Promise<string> {
  const buffer = Buffer.alloc(length);
  let at = 0;
  while (at < length) {
    const { bytesRead } = await file.read(buffer, at, length - at, at);
    if (bytesRead === 0) break;
    at += bytesRead;
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, at), { stream: !isWhole });
}
