import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Waits until `check` holds; rejects after 40 s. */
export async function until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 40_000;
  while (!(await check())) {
    if (Date.now() > end) throw new Error(`waited 40 s in vain: ${what}`);
    await delay(20);
  }
}

/** The number that a process wrote into a file, once it is there. */
export async function pidIn(file: string): Promise<number> {
  await until(`a process id in ${file}`, () => existsSync(file) && /^\d+\n/.test(readFileSync(file, 'utf8')));
  return Number.parseInt(readFileSync(file, 'utf8'), 10);
}

/** Whether a process exists and is more than an entry that nobody collected. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch (error) {
    // Without /proc the signal alone has answered.
    return (error as NodeJS.ErrnoException).code === 'ENOENT' && !existsSync('/proc/self');
  }
}
