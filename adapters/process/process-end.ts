/** Signals that end a process which does not listen for them, without any of its code being run. */
const FATAL = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

/** Whether work has to be done before the process ends. */
export interface ProcessEndGuard {
  arm(): void;
  disarm(): void;
}

/**
 * While armed, calls `work` (which must be synchronous) when the process ends, also by a signal that
 * nobody else listens for. Such a signal then ends the process as it would have without the guard.
 */
export function endWithProcess(work: () => void): ProcessEndGuard {
  let armed = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    // Somebody else listens: the process goes on and ends in its own way.
    if (process.listenerCount(signal) > 1) return;
    disarm();
    work();
    process.kill(process.pid, signal);
  };
  const disarm = (): void => {
    if (!armed) return;
    armed = false;
    process.off('exit', work);
    for (const signal of FATAL) process.off(signal, onSignal);
  };
  return {
    arm() {
      if (armed) return;
      armed = true;
      process.on('exit', work);
      for (const signal of FATAL) process.on(signal, onSignal);
    },
    disarm,
  };
}
