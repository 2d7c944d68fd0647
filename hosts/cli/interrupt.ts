import { EXIT } from './exit-codes.ts';

/** Ctrl-C, and the same from a service manager. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interrupt {
  readonly signal: AbortSignal;
  /** Gives the signals back to whoever had them. */
  stop(): void;
}

/**
 * The first signal cancels; the second ends the process at once with 130. Tools are killed by the
 * first, so the second leaves nothing behind but what would not stop.
 */
export function onInterrupt(atExit: () => void = () => {}, signals: readonly NodeJS.Signals[] = SIGNALS): Interrupt {
  const controller = new AbortController();
  const handle = (): void => {
    if (controller.signal.aborted) {
      atExit();
      process.exit(EXIT.cancelled);
    }
    controller.abort();
  };
  for (const name of signals) process.on(name, handle);
  return {
    signal: controller.signal,
    stop: () => {
      for (const name of signals) process.off(name, handle);
    },
  };
}
