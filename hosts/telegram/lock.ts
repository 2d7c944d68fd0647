import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../ports/clock.ts';
import { ConfigError } from '../../ports/errors.ts';

/** Held until it is released or the process ends, however it ends: the system keeps it. */
export interface Lock {
  release(): void;
}

const LOOK_MS = 500;

/** Makes the file for its owner alone. In a folder of everybody it must be no link, and nobody else's. */
function prepare(path: string): void {
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK, 0o600);
  try {
    const { uid, mode } = fstatSync(fd);
    const isOwn = process.getuid === undefined || uid === process.getuid();
    if (!isOwn || (mode & constants.S_IFMT) !== constants.S_IFREG) {
      throw new ConfigError('lock_unavailable', `${path} is not a file of yours; remove it`, { value: path });
    }
  } finally {
    closeSync(fd);
  }
}

/** Takes the lock at `path`, or gives undefined while another process has it. Other failures throw. */
function tryLock(path: string): Lock | undefined {
  prepare(path);
  const db = new DatabaseSync(path);
  try {
    db.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return { release: () => db.close() };
  } catch (error) {
    db.close();
    if (/locked|busy/i.test((error as Error).message)) return undefined;
    throw error;
  }
}

/** The files that a bot is locked by: one for the state folder, one for the token on this machine. */
export function lockFiles(home: string, token: string, tempDir: string, user: number): readonly string[] {
  const digest = createHash('sha256').update(token).digest('hex').slice(0, 16);
  return [join(home, 'telegram.lock'), join(tempDir, `odek-telegram-${user}-${digest}.lock`)];
}

/** Takes all of these locks, one after the other; `onWait` is told once for each that somebody else has. Rejects with `CancelledError`. */
export async function takeLocks(
  files: readonly string[],
  clock: Clock,
  signal: AbortSignal,
  onWait: (file: string) => void,
): Promise<Lock> {
  const held: Lock[] = [];
  const release = (): void => {
    for (const lock of held.splice(0).reverse()) lock.release();
  };
  try {
    for (const file of files) {
      let lock = tryLock(file);
      if (lock === undefined) onWait(file);
      while (lock === undefined) {
        await clock.sleep(LOOK_MS, signal);
        lock = tryLock(file);
      }
      held.push(lock);
    }
    return { release };
  } catch (error) {
    release();
    throw error;
  }
}
