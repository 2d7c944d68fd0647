const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 10_000;
/** Lives in a row that were of no use, after which the server is left alone for a while. */
const MAX_USELESS = 6;
const REST_MS = 60_000;

export interface BackOff {
  /** The current life brought a result. */
  succeeded(): void;
  /** The current life is over. */
  ended(): void;
  /** The next life did not even begin. */
  failed(error: unknown): void;
  /** Milliseconds until the next try. `resting`: too long to wait for. */
  wait(): { readonly ms: number; readonly resting: boolean };
  lastFailure(): unknown;
}

/** How long to wait before a server is started again: not at all after a life that was of use, else twice as long each time. */
export function createBackOff(now: () => number = () => performance.now()): BackOff {
  let useless = 0;
  let useful = false;
  let notBefore = 0;
  let failure: unknown;

  const count = (): void => {
    useless = useful ? 0 : useless + 1;
    useful = false;
    const wait = useless === 0 ? 0 : useless >= MAX_USELESS ? REST_MS : Math.min(FIRST_WAIT_MS * 2 ** (useless - 1), MAX_WAIT_MS);
    notBefore = now() + wait;
  };

  return {
    succeeded() {
      useful = true;
    },
    ended: count,
    failed(error) {
      failure = error;
      count();
    },
    wait() {
      const ms = Math.max(0, notBefore - now());
      return { ms, resting: useless >= MAX_USELESS && ms > 0 };
    },
    lastFailure: () => failure,
  };
}
