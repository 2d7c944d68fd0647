import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

const MODE = 0o600;

/** Replaces a file of odek's own in one step: afterwards it is the new one, also after a power cut, and never half of it. */
export async function writeText(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.new`;
  try {
    const file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, MODE);
    try {
      await file.writeFile(text);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

export function writeStateFile(path: string, value: unknown): Promise<void> {
  return writeText(path, JSON.stringify(value));
}

/** The value of such a file; undefined where there is none, or one that nobody can read. */
export async function readStateFile(path: string, maxBytes: number): Promise<unknown> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    if ((await file.stat()).size > maxBytes) return undefined;
    return JSON.parse(await file.readFile('utf8'));
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
