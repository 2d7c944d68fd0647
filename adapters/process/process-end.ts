/** Signals that end a process which does not listen for them, without any of its code being run. */
const FATAL = ['SIGTERM', 'SIGHUP', 'SIGINT'] as const;

/** Whether work has to be done before the process ends. */
export interface ProcessEndGuard {
  arm(): void;
  disarm(): void;
}

/** What the armed guards have to do. They share their listeners, or each would take the others for somebody who handles the signal. */
const armed = new Set<() => void>();

function runAll(): void {
  const works = [...armed];
  armed.clear();
  for (const work of works) work();
}

function onSignal(signal: NodeJS.Signals): void {
  // Somebody else listens: the process goes on and ends in its own way.
  if (process.listenerCount(signal) > 1) return;
  stopListening();
  runAll();
  process.kill(process.pid, signal);
}

function listen(): void {
  process.on('exit', runAll);
  for (const signal of FATAL) process.on(signal, onSignal);
}

function stopListening(): void {
  process.off('exit', runAll);
  for (const signal of FATAL) process.off(signal, onSignal);
}

/**
 * While armed, calls `work` (which must be synchronous) when the process ends, also by a signal that
 * nobody else listens for. Such a signal then ends the process as it would have without the guard.
 */
export function endWithProcess(work: () => void): ProcessEndGuard {
  const own = (): void => work();
  return {
    arm() {
      if (armed.size === 0) listen();
      armed.add(own);
    },
    disarm() {
      if (armed.delete(own) && armed.size === 0) stopListening();
    },
  };
}
