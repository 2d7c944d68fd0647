import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ExtensionHostSpec } from '../../ports/extension-host.ts';
import { findPrograms } from './programs.ts';
import type { NodeRuntime } from './runtime.ts';

/** A command line, and how it holds memory down. */
export interface HostCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly memory: string;
}

export interface JailOptions {
  readonly runtime: NodeRuntime;
  readonly spec: ExtensionHostSpec;
  /** The host's own program, one file. */
  readonly program: string;
  /** A folder for this process alone. */
  readonly temporary: string;
  readonly searchPath: string | undefined;
  readonly workspace: string;
}

/** How bwrap is called: only root can do without a user namespace of its own. */
export interface Confinement {
  readonly bwrap: string;
  readonly userNamespace: boolean;
}

const GIB = 1024 ** 3;
const HEAP_MIB = 256;
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const MAX_OPEN_FILES = 256;
const INSIDE = { node: '/odek/node', program: '/odek/host.mjs', temporary: '/odek/tmp' };

/** The command line of a host inside bwrap: nothing of the machine is there but what is named. */
export function confinedCommand(options: JailOptions, { bwrap, userNamespace }: Confinement): HostCommand {
  const { runtime, spec, program, temporary } = options;
  const mounts = [
    { kind: 'ro-bind', from: runtime.path, at: INSIDE.node },
    { kind: 'ro-bind', from: program, at: INSIDE.program },
    { kind: 'bind', from: temporary, at: INSIDE.temporary },
    ...runtime.libraries
      .filter((path) => existsSync(path) && realpathSync(path) !== runtime.path)
      .map((path) => ({ kind: 'ro-bind', from: realpathSync(path), at: path })),
    ...spec.readable.map((path) => ({ kind: 'ro-bind', from: path, at: path })),
    ...spec.writable.map((path) => ({ kind: 'bind', from: path, at: path })),
  ].sort((one, other) => one.at.split('/').length - other.at.split('/').length);
  const args = [
    ...(userNamespace ? ['--unshare-user'] : []),
    ...['--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try', '--unshare-net'],
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--hostname', 'plugins'],
    // There is no /proc: what it tells of other processes, and what it lets be set, cannot be reached.
    ...['--dev', '/dev'],
    ...mounts.flatMap(({ kind, from, at }) => [`--${kind}`, from, at]),
    ...['--remount-ro', '/', '--chdir', INSIDE.temporary, '--'],
    ...[INSIDE.node, ...nodeFlags(spec, INSIDE.program, INSIDE.temporary), INSIDE.program],
  ];
  // bwrap stays as the first process inside, with the environment that it was started with.
  return limited({ file: bwrap, args, env: environmentOf(INSIDE.temporary) }, options);
}

/** The command line of a host that only Node itself and the limits of the system hold. */
export function openCommand(options: JailOptions): HostCommand {
  const { runtime, spec, program, temporary, searchPath, workspace } = options;
  const node = [runtime.path, ...nodeFlags(spec, program, temporary), program];
  const [setpriv] = findPrograms('setpriv', searchPath, workspace);
  const [file = '', ...args] = setpriv === undefined ? node : [setpriv, '--pdeathsig', 'KILL', '--', ...node];
  return limited({ file, args, env: environmentOf(temporary) }, options);
}

function nodeFlags(spec: ExtensionHostSpec, program: string, temporary: string): readonly string[] {
  const writable = [...spec.writable, temporary];
  return [
    '--permission',
    ...[program, ...spec.readable, ...writable].map((path) => `--allow-fs-read=${path}`),
    ...writable.map((path) => `--allow-fs-write=${path}`),
    '--experimental-vm-modules',
    ...['--disallow-code-generation-from-strings', '--disable-proto=throw', '--no-addons', '--no-experimental-sqlite'],
    ...[`--max-old-space-size=${HEAP_MIB}`, '--disable-sigusr1', '--disable-warning=ExperimentalWarning'],
  ];
}

function environmentOf(temporary: string): Readonly<Record<string, string>> {
  return { PATH: '/usr/bin:/bin', TMPDIR: temporary, LANG: 'C.UTF-8' };
}

/** Puts the limits of the system around a command. They hold for everything it starts. */
function limited(command: Omit<HostCommand, 'memory'>, { runtime, searchPath, workspace }: JailOptions): HostCommand {
  const heap = `JavaScript heap of ${HEAP_MIB} MiB`;
  if (process.platform !== 'linux') return { ...command, memory: heap };
  const { file, args, env } = command;
  const data = Math.min(runtime.dataBytes + GIB, hardLimit('Max data size'));
  const size = Math.min(MAX_FILE_BYTES, hardLimit('Max file size'));
  const files = Math.min(MAX_OPEN_FILES, hardLimit('Max open files'));
  const memory = `${heap}, data of ${Math.round(data / 1024 ** 2)} MiB`;
  const [prlimit] = findPrograms('prlimit', searchPath, workspace);
  if (prlimit !== undefined) {
    return {
      file: prlimit,
      args: [`--data=${data}`, '--core=0', `--fsize=${size}`, `--nofile=${files}`, '--', file, ...args],
      env,
      memory,
    };
  }
  const script = `ulimit -d ${Math.floor(data / 1024)} && ulimit -c 0 && ulimit -n ${files} && exec "$@"`;
  return { file: '/bin/sh', args: ['-c', script, 'sh', file, ...args], env, memory };
}

/** A limit of this very process that nothing it starts can raise; infinite where there is none. */
function hardLimit(name: string): number {
  try {
    const line = readFileSync('/proc/self/limits', 'utf8')
      .split('\n')
      .find((each) => each.startsWith(name));
    const hard = Number(line?.slice(name.length).trim().split(/\s+/)[1]);
    return Number.isFinite(hard) && hard > 0 ? hard : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Why a folder cannot be put into a jail; undefined when it can. */
export function folderFault(path: string): string | undefined {
  if (!path.startsWith('/') || path.includes('\0') || path.split('/').some((part) => part === '..' || part === '.'))
    return 'is not absolute and normal';
  if (dirname(path) === path) return 'is all of the machine';
  return path === '/odek' || path.startsWith('/odek/') || /^\/(dev|proc|sys)(\/|$)/.test(path)
    ? 'lies where the host has its own'
    : undefined;
}
