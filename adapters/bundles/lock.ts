import { link, open, rename, stat, unlink } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { BundleError } from '../../ports/bundle.ts';

/** Whoever holds a lock does so for a few milliseconds. An older one was left by a process that died. */
const STALE_MS = 10_000;
const PAUSE_MS = 10;

/** Does `work` while no other process does its own under the same lock file. Rejects with `plugin_state_busy` after `waitMs`. */
export async function withStateLock<Result>(lock: string, waitMs: number, work: () => Promise<Result>): Promise<Result> {
  const end = Date.now() + waitMs;
  while (!(await taken(lock))) {
    await breakStale(lock);
    if (Date.now() > end) {
      throw new BundleError('plugin_state_busy', `another process holds ${lock} for more than ${waitMs} ms; remove it if none does`, {
        value: lock,
        limit: waitMs,
      });
    }
    await sleep(PAUSE_MS + Math.random() * PAUSE_MS);
  }
  try {
    return await work();
  } finally {
    await unlink(lock).catch(() => {});
  }
}

async function taken(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Moved away first: of several processes that see the same old lock, one alone moves it. */
async function breakStale(lock: string): Promise<void> {
  const found = await stat(lock).catch(() => undefined);
  if (found === undefined || Date.now() - found.mtimeMs < STALE_MS) return;
  const away = `${lock}-${crypto.randomUUID()}`;
  await rename(lock, away).catch(() => {});
  // Another process broke the same lock first and took it: what was moved is its own, and it goes back.
  const moved = await stat(away).catch(() => undefined);
  if (moved !== undefined && moved.ino !== found.ino) await link(away, lock).catch(() => {});
  await unlink(away).catch(() => {});
}
