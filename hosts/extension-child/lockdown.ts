import { AsyncLocalStorage } from 'node:async_hooks';
import process from 'node:process';
import { format } from 'node:util';
import type { Link } from './link.ts';
import { currentScope } from './owners.ts';

/** Members of `process` that reach the system, another process, or around the linker. */
const PROCESS_MEMBERS = [
  ...['getBuiltinModule', 'binding', '_linkedBinding', 'dlopen', 'execve', 'kill', '_kill', '_debugProcess', '_debugEnd'],
  ...['reallyExit', 'abort', 'exit', 'chdir', 'umask', 'loadEnvFile', 'setSourceMapsEnabled', 'setUncaughtExceptionCaptureCallback'],
  ...['setuid', 'setgid', 'seteuid', 'setegid', 'setgroups', 'initgroups', 'mainModule'],
  ...['openStdin', '_getActiveHandles', '_getActiveRequests', 'getActiveResourcesInfo', '_preload_modules', '_startProfilerIdleNotifier'],
];
/** Ways into the network, in case the sandbox is not there. */
const NETWORK = ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest'];

/** What the host's own code relies on, and what nobody has a reason to change. */
const FIXED: readonly object[] = [
  ...[JSON, Reflect, Math, Object, Array, Number, Promise, Date, Buffer],
  ...[Promise, Map, Set, WeakMap, WeakSet, AbortController, AbortSignal, TextDecoder, TextEncoder, AsyncLocalStorage].map(
    (each) => each.prototype as object,
  ),
];

/**
 * Takes away what plugins must not have, for good. What a plugin sees as `process` is a picture of it.
 * Anything missed here still meets Node's permissions and the sandbox.
 */
export function lockDown(link: Link, timers: Readonly<Record<string, unknown>>): void {
  const view = processView();
  for (const name of PROCESS_MEMBERS) remove(process, name);
  for (const name of NETWORK) remove(globalThis, name);
  for (const each of FIXED) Object.freeze(each);
  for (const [name, value] of Object.entries({ ...timers, process: view, console: ownConsole(link) })) {
    Object.defineProperty(globalThis, name, { value, writable: false, configurable: false, enumerable: false });
  }
}

function remove(target: object, name: string): void {
  if (!(name in target)) return;
  Reflect.deleteProperty(target, name);
  // Some are inherited; an own one hides them.
  Object.defineProperty(target, name, { value: undefined, writable: false, configurable: false, enumerable: false });
}

function processView(): object {
  const { version, versions, platform, arch, nextTick, hrtime, uptime } = process;
  const cwd = process.cwd();
  const refuse = (name: string) => () => {
    throw new Error(`a plugin cannot use process.${name}`);
  };
  const members = {
    ...{ version, versions: Object.freeze({ ...versions }), platform, arch, pid: 0, ppid: 0, title: 'plugins' },
    ...{ env: Object.freeze({}), argv: Object.freeze([]), execArgv: Object.freeze([]), execPath: '' },
    cwd: () => cwd,
    nextTick: (callback: (...args: unknown[]) => void, ...args: unknown[]) => nextTick(callback, ...args),
    hrtime: Object.assign((time?: [number, number]) => hrtime(time), { bigint: () => hrtime.bigint() }),
    uptime: () => uptime(),
    ...Object.fromEntries(
      ['exit', 'abort', 'kill', 'dlopen', 'binding', 'chdir', 'on', 'once', 'off', 'emit', 'addListener'].map((name) => [
        name,
        refuse(name),
      ]),
    ),
  };
  return Object.freeze(members);
}

function ownConsole(link: Link): object {
  const say =
    (level: 'debug' | 'info' | 'warning' | 'error') =>
    (...args: unknown[]): void =>
      link.log(level, format(...args), currentScope()?.owner);
  const nothing = (): void => {};
  const members = {
    log: say('info'),
    info: say('info'),
    debug: say('debug'),
    trace: say('debug'),
    warn: say('warning'),
    error: say('error'),
    dir: say('info'),
  };
  const quiet = Object.fromEntries(
    ['assert', 'group', 'groupEnd', 'groupCollapsed', 'time', 'timeEnd', 'timeLog', 'count', 'table', 'clear'].map((name) => [
      name,
      nothing,
    ]),
  );
  return Object.freeze({ ...members, ...quiet });
}
