import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { CancelledError } from '../../ports/errors.ts';
import {
  type ExtensionHost,
  ExtensionHostError,
  type ExtensionHostLauncher,
  type ExtensionHostListener,
  type ExtensionHostSpec,
} from '../../ports/extension-host.ts';
import { type Child, startChild } from './child.ts';
import type { HeartbeatTimes } from './heartbeat.ts';
import { attachHost } from './host.ts';
import { type Confinement, confinedCommand, folderFault, type HostCommand, type JailOptions, openCommand } from './jail.ts';
import { findPrograms } from './programs.ts';
import { PROTOCOL } from './protocol.ts';
import { findRuntime, type NodeRuntime } from './runtime.ts';

export interface ExtensionHostOptions {
  /** Absolute path of the host's program, one file. */
  readonly program: string;
  /** Absolute path of odek's own folder; `extension-host/` in it is used. */
  readonly stateDir: string;
  /** Absolute path of the working directory, whose programs are not started. */
  readonly workspace: string;
  /** Variables of odek; only `PATH` is read. None of them reaches a host. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the only Node to use. Absent: the one that runs odek. */
  readonly node?: string;
  /** Where bwrap does not work, hosts run without it, and say so. */
  readonly allowUnsandboxed?: boolean;
  /** Milliseconds; default 1 s, 3 s and 10 s. */
  readonly heartbeat?: HeartbeatTimes;
  /** Milliseconds until a process is ready; default 15 s. */
  readonly startTimeoutMs?: number;
}

const HEARTBEAT: HeartbeatTimes = { every: 1_000, unresponsive: 3_000, kill: 10_000 };
const START_TIMEOUT_MS = 15_000;
const MAX_WORDS = 500;
const INSTALL = 'install bubblewrap (Debian, Ubuntu, Fedora: package "bubblewrap")';
const NAMESPACES =
  'allow user namespaces: an AppArmor profile for bwrap that grants "userns", or sysctl kernel.apparmor_restrict_unprivileged_userns=0, or in a container a seccomp profile that admits them';

/** Starts host processes of Node inside bwrap. Nothing is looked at before the first start. */
export function createExtensionHostLauncher(options: ExtensionHostOptions): ExtensionHostLauncher {
  const folder = join(options.stateDir, 'extension-host');
  let isSwept = false;
  return {
    async start(spec, listener, signal) {
      checkSpec(spec);
      checkProgram(options.program);
      stopIfCancelled(signal);
      if (!isSwept) sweep(folder);
      isSwept = true;
      const { workspace, environment, node } = options;
      const runtime = await findRuntime({
        ...(node !== undefined && { configured: node }),
        workspace,
        searchPath: environment.PATH,
        cacheFile: join(folder, 'runtime.json'),
      });
      return startSomehow({ options, spec, listener, signal, runtime, folder });
    },
  };
}

interface Start {
  readonly options: ExtensionHostOptions;
  readonly spec: ExtensionHostSpec;
  readonly listener: ExtensionHostListener;
  readonly signal: AbortSignal;
  readonly runtime: NodeRuntime;
  readonly folder: string;
}

/** In bwrap in one way or the other; without it only where that is allowed. */
async function startSomehow(start: Start): Promise<ExtensionHost> {
  const { options } = start;
  const fault = process.platform === 'linux' ? undefined : { message: 'bwrap needs Linux', fix: 'run odek there' };
  const [bwrap] = findPrograms('bwrap', options.environment.PATH, options.workspace);
  let refusal = fault ?? (bwrap === undefined ? { message: 'bwrap is not installed', fix: INSTALL } : undefined);
  if (refusal === undefined && bwrap !== undefined) {
    const ways: readonly Confinement[] = [
      { bwrap, userNamespace: true },
      ...(process.getuid?.() === 0 ? [{ bwrap, userNamespace: false }] : []),
    ];
    for (const way of ways) {
      const result = await startOnce(start, way);
      if ('host' in result) return result.host;
      refusal ??= { message: `bwrap does not run here: ${result.refused}`, fix: NAMESPACES };
    }
  }
  if (options.allowUnsandboxed === true) {
    const result = await startOnce(start, undefined);
    if ('host' in result) return result.host;
  }
  const { message, fix } = refusal ?? { message: 'it did not start', fix: '' };
  throw new ExtensionHostError('extension_sandbox_unavailable', `plugins with code do not run without a sandbox: ${message}; ${fix}`, {
    value: message,
  });
}

/** `refused`: bwrap itself said no, in these words. Rejects for every other reason. */
async function startOnce(
  start: Start,
  way: Confinement | undefined,
): Promise<{ readonly host: ExtensionHost } | { readonly refused: string }> {
  const { options, spec, listener, signal, runtime, folder } = start;
  const startedAt = performance.now();
  const temporary = join(folder, 'tmp', `${process.pid}-${randomBytes(6).toString('hex')}`);
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  for (const path of spec.writable) mkdirSync(path, { recursive: true, mode: 0o700 });
  const jail: JailOptions = {
    runtime,
    spec,
    program: realpathSync(options.program),
    temporary,
    searchPath: options.environment.PATH,
    workspace: options.workspace,
  };
  const command = way === undefined ? openCommand(jail) : confinedCommand(jail, way);
  let child: Child;
  try {
    child = await startChild(command);
  } catch (cause) {
    rmSync(temporary, { recursive: true, force: true });
    throw new ExtensionHostError(
      'extension_start_failed',
      `the plugin host "${spec.name}" could not be started: ${(cause as Error).message}`,
      { cause },
    );
  }
  void child.ended.then(() => rmSync(temporary, { recursive: true, force: true }));
  const starting = attachHost({
    name: spec.name,
    child,
    listener,
    heartbeat: options.heartbeat ?? HEARTBEAT,
    facts: factsOf(runtime, command, way !== undefined),
  });
  const within = options.startTimeoutMs ?? START_TIMEOUT_MS;
  let isLate = false;
  const stop = (): void => child.kill();
  const timer = setTimeout(() => {
    isLate = true;
    stop();
  }, within);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const { protocol } = await starting.hello;
    if (protocol !== PROTOCOL)
      throw new ExtensionHostError('extension_start_failed', `its program speaks protocol ${protocol}, not ${PROTOCOL}`);
    await initialized(starting.initialize, way !== undefined);
    stopIfCancelled(signal);
    starting.ready(Math.round(performance.now() - startedAt));
    return { host: starting.host };
  } catch (cause) {
    child.kill();
    const how = await child.ended;
    stopIfCancelled(signal);
    const words = child.tail().trim().replaceAll('\n', ' ').slice(0, MAX_WORDS);
    if (way !== undefined && words.startsWith('bwrap: ')) return { refused: words };
    const why = isLate ? `it was not ready within ${within} ms` : wordsOf(cause, how, words);
    throw new ExtensionHostError('extension_start_failed', `the plugin host "${spec.name}" did not start: ${why}`, { cause });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** The process tries to reach this listener, among other things that must fail. */
async function initialized(
  initialize: (params: { protocol: number; confined: boolean; probe_port: number }) => Promise<unknown>,
  confined: boolean,
): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  server.listen(0, '127.0.0.1');
  await new Promise<void>((resolve, reject) => {
    server.once('listening', resolve);
    server.once('error', reject);
  });
  try {
    await initialize({ protocol: PROTOCOL, confined, probe_port: (server.address() as AddressInfo).port });
  } finally {
    server.close();
  }
}

function factsOf(runtime: NodeRuntime, command: HostCommand, isConfined: boolean): Parameters<typeof attachHost>[0]['facts'] {
  const { version, path } = runtime;
  return { runtime: { name: 'node', version, path }, sandbox: isConfined ? 'bwrap' : 'none', memory: command.memory };
}

function wordsOf(cause: unknown, how: string, words: string): string {
  const message = (cause as { readonly code?: unknown }).code === 'extension_exited' ? how : (cause as Error).message;
  return words === '' ? message : `${message}; it said: ${words}`;
}

function checkSpec(spec: ExtensionHostSpec): void {
  for (const path of [...spec.readable, ...spec.writable]) {
    const fault = folderFault(path);
    if (fault !== undefined) throw new ExtensionHostError('extension_start_failed', `the folder "${path}" ${fault}`, { value: path });
  }
  const missing = spec.readable.find((path) => !existsSync(path));
  if (missing !== undefined)
    throw new ExtensionHostError('extension_start_failed', `the folder "${missing}" is not there`, { value: missing });
}

function checkProgram(program: string): void {
  if (existsSync(program)) return;
  const message = `the program of plugin hosts is not there: ${program}; where odek runs from its source, "npm run build" makes it`;
  throw new ExtensionHostError('extension_start_failed', message, { value: program });
}

function stopIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw new CancelledError();
}

/** Temporary folders of processes that are gone. */
function sweep(folder: string): void {
  const tmp = join(folder, 'tmp');
  for (const name of existsSync(tmp) ? readdirSync(tmp) : []) {
    const pid = Number(name.split('-')[0]);
    if (!isAlive(pid)) rmSync(join(tmp, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
