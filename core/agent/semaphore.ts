/** At most `limit` holders at a time, the others in the order they came. */
export interface Semaphore {
  /** Resolves with the function that gives the place back. Call it once. */
  acquire(): Promise<() => void>;
}

export function createSemaphore(limit: number): Semaphore {
  let free = limit;
  const waiting: (() => void)[] = [];
  const release = (): void => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };
  return {
    acquire: async () => {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return release;
    },
  };
}
