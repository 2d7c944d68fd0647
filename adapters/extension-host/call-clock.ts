/** A time limit of running time: it stands still while it is held. */
export interface CallClock {
  hold(): () => void;
  stop(): void;
}

/** Calls `expired` once, after `ms` of time in which nobody held the clock. */
export function startCallClock(ms: number, expired: () => void): CallClock {
  let left = ms;
  let since = performance.now();
  let holds = 0;
  let stopped = false;
  let timer = setTimeout(fire, left);

  function fire(): void {
    stopped = true;
    expired();
  }

  return {
    hold() {
      if (holds === 0 && !stopped) {
        clearTimeout(timer);
        left -= performance.now() - since;
      }
      holds += 1;
      let held = true;
      return () => {
        if (!held) return;
        held = false;
        holds -= 1;
        if (holds > 0 || stopped) return;
        since = performance.now();
        timer = setTimeout(fire, Math.max(1, left));
      };
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
