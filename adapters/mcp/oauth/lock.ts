import { link, open, rename, stat, unlink, utimes } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { CancelledError } from '../../../ports/errors.ts';

const PAUSE_MS = 20;
/** Whoever holds a lock says so this often; one that is silent for the other time was left by a process that died. */
const SIGN_MS = 2_000;
const STALE_MS = 10_000;

/**
 * Does `work` while no other process does its own under the same lock file. Rejects with `busy()` after `waitMs`, and
 * with `CancelledError` when `signal` fires while it waits.
 */
export async function withLock<Result>(
  lock: string,
  { waitMs, busy, signal }: { readonly waitMs: number; readonly busy: () => Error; readonly signal?: AbortSignal | undefined },
  work: () => Promise<Result>,
): Promise<Result> {
  const end = performance.now() + waitMs;
  while (!(await taken(lock))) {
    if (signal?.aborted) throw new CancelledError();
    await breakStale(lock);
    if (performance.now() > end) throw busy();
    await sleep(PAUSE_MS + Math.random() * PAUSE_MS);
  }
  const sign = setInterval(() => {
    const now = new Date();
    void utimes(lock, now, now).catch(() => {});
  }, SIGN_MS);
  sign.unref();
  try {
    return await work();
  } finally {
    clearInterval(sign);
    await unlink(lock).catch(() => {});
  }
}

async function taken(lock: string): Promise<boolean> {
  try {
    const file = await open(lock, 'wx', 0o600);
    await file.close();
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
