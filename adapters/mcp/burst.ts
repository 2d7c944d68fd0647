const QUIET_MS = 100;
/** However many notices come, they are told this long after the first. */
const MAX_DELAY_MS = 1000;

/** Makes one call of many notices that come shortly one after another. */
export function createBurst(tell: () => void): { readonly notice: () => void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let deadline = 0;
  let stopped = false;
  return {
    notice() {
      if (stopped) return;
      const now = performance.now();
      if (timer === undefined) deadline = now + MAX_DELAY_MS;
      clearTimeout(timer);
      timer = setTimeout(
        () => {
          timer = undefined;
          tell();
        },
        Math.max(0, Math.min(QUIET_MS, deadline - now)),
      );
      timer.unref();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
