import type { Clock } from '../../ports/clock.ts';

const WINDOW_MS = 300_000;
const MAX_CRASHES = 3;
/** Milliseconds before a host that crashed is started again. */
export const BACK_OFF_MS = 250;
const DIRTY_WINDOW_MS = 600_000;
const MAX_DIRTY = 2;

/** How often the process of one group may fail by itself. */
export interface CrashBudget {
  /** Counts a crash. False: that was the third within five minutes, and the host stays down. */
  crashed(): boolean;
  /** A person changed or reloaded a plugin: a deliberate new try. */
  reset(): void;
}

export function createCrashBudget(clock: Pick<Clock, 'monotonic'>): CrashBudget {
  let crashes: number[] = [];
  return {
    crashed() {
      const now = clock.monotonic();
      crashes = [...crashes.filter((at) => now - at < WINDOW_MS), now];
      return crashes.length < MAX_CRASHES;
    },
    reset: () => {
      crashes = [];
    },
  };
}

/** Counts teardowns that left something behind. True: the second within ten minutes, so the host is to be started again when it is idle. */
export function createDirtyCount(clock: Pick<Clock, 'monotonic'>): () => boolean {
  let dirty: number[] = [];
  return () => {
    const now = clock.monotonic();
    dirty = [...dirty.filter((at) => now - at < DIRTY_WINDOW_MS), now];
    if (dirty.length < MAX_DIRTY) return false;
    dirty = [];
    return true;
  };
}
