import { currentScope, type Owner } from './owners.ts';

type Timer = NodeJS.Timeout | NodeJS.Immediate;
type Callback = (...args: readonly unknown[]) => unknown;

/** Timers that belong to whoever starts them, so that nothing of a plugin runs once it is gone. */
export function ownedTimers(): Readonly<Record<string, unknown>> {
  const start = (make: (callback: Callback) => Timer, callback: unknown, isOnce: boolean): Timer => {
    if (typeof callback !== 'function') throw new TypeError('a timer needs a function');
    const owner = currentScope()?.owner;
    const timer: Timer = make((...args) => {
      if (isOnce) owner?.timers.delete(timer);
      if (owner?.closed !== true) (callback as Callback)(...args);
    });
    if (owner?.closed === true) clear(timer);
    else owner?.timers.add(timer);
    return timer;
  };
  const stop = (timer: unknown): void => {
    currentScope()?.owner.timers.delete(timer as Timer);
    clear(timer);
  };
  return Object.freeze({
    setTimeout: (callback: unknown, ms?: number, ...args: unknown[]) => start((own) => raw.setTimeout(own, ms, ...args), callback, true),
    setInterval: (callback: unknown, ms?: number, ...args: unknown[]) => start((own) => raw.setInterval(own, ms, ...args), callback, false),
    setImmediate: (callback: unknown, ...args: unknown[]) => start((own) => raw.setImmediate(own, ...args), callback, true),
    clearTimeout: stop,
    clearInterval: stop,
    clearImmediate: stop,
  });
}

/** Ends what an owner left to run later. Returns how much it was. */
export function clearTimers(owner: Owner): number {
  const count = owner.timers.size;
  for (const timer of owner.timers) clear(timer);
  owner.timers.clear();
  return count;
}

/** As they were before anything of a plugin ran. */
const raw = { setTimeout, setInterval, setImmediate, clearTimeout, clearImmediate };

function clear(timer: unknown): void {
  raw.clearTimeout(timer as NodeJS.Timeout);
  if (typeof timer === 'object' && timer !== null) raw.clearImmediate(timer as NodeJS.Immediate);
}
