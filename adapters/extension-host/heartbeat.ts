/** Milliseconds. */
export interface HeartbeatTimes {
  readonly every: number;
  readonly unresponsive: number;
  readonly kill: number;
}

export interface HeartbeatListener {
  /** Resolves once the other side has answered. */
  ping(): Promise<unknown>;
  unresponsive(sinceMs: number): void;
  responsive(): void;
  dead(sinceMs: number): void;
}

/** Asks again and again. Returns what stops it. */
export function startHeartbeat(times: HeartbeatTimes, listener: HeartbeatListener): () => void {
  let askedAt: number | undefined;
  let lastTick = performance.now();
  let isTold = false;
  const timer = setInterval(() => {
    const now = performance.now();
    // This process itself stood still, so that the answer may lie here unread.
    if (now - lastTick > 2 * times.every && askedAt !== undefined) askedAt += now - lastTick - times.every;
    lastTick = now;
    if (askedAt === undefined) return ask(now);
    const silent = now - askedAt;
    if (silent >= times.kill) {
      clearInterval(timer);
      listener.dead(silent);
    } else if (silent >= times.unresponsive && !isTold) {
      isTold = true;
      listener.unresponsive(silent);
    }
  }, times.every);

  const ask = (now: number): void => {
    askedAt = now;
    listener.ping().then(
      () => {
        askedAt = undefined;
        if (!isTold) return;
        isTold = false;
        listener.responsive();
      },
      () => clearInterval(timer),
    );
  };
  return () => clearInterval(timer);
}
