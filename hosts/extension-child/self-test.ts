import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import process from 'node:process';
import { Worker } from 'node:worker_threads';

export interface SelfTestOptions {
  /** Whether the sandbox is around this process; without it the network is not tried. */
  readonly confined: boolean;
  /** Where odek listens on 127.0.0.1, outside. */
  readonly port: number;
}

/** Throws when it is refused; resolves when it went through. */
type Attempt = () => unknown;

const NETWORK_MS = 2_000;

/** Does each forbidden thing for real. Returns what was tried; rejects with what succeeded. */
export async function selfTest({ confined, port }: SelfTestOptions): Promise<readonly string[]> {
  const attempts: Readonly<Record<string, Attempt>> = {
    'read a file of the machine': () => readFileSync('/etc/passwd'),
    'read the environment of the process': () => readFileSync('/proc/self/environ'),
    'write outside its folders': () => writeFileSync('/odek-self-test', ''),
    'make a link out of its folders': () => symlinkSync('/etc', `${process.env.TMPDIR}/self-test`),
    'start a program': () => started(spawnSync(process.execPath, ['-e', '0'])),
    'start a worker': () => new Worker('', { eval: true }).terminate(),
    'get a module of Node past the linker': () => called('getBuiltinModule', 'node:fs'),
    'load native code': () => called('dlopen', {}, '/odek-self-test.node'),
    'get a binding of Node': () => called('binding', 'fs'),
    'send a signal': () => called('kill', 1, 0),
    'run a program instead of this one': () => called('execve', '/odek-self-test', []),
    'open a database': () => import('node:sqlite'),
    'make code of text': () => new Function('return 1')(),
    'evaluate text': () => (Reflect.get(globalThis, 'eval') as (text: string) => unknown)('1'),
    'change a prototype by __proto__': () => Reflect.get({}, '__proto__'),
    'fetch over the network': () =>
      (globalThis as { readonly fetch?: (url: string) => unknown }).fetch?.(`http://127.0.0.1:${port}`) ?? refused(),
    ...(confined && {
      'reach the machine by network': () => connected(port),
      'listen on a socket outside': () => listening('/odek-self-test.sock'),
    }),
  };
  for (const [name, attempt] of Object.entries(attempts)) {
    if (await succeeds(attempt)) throw new Error(`a plugin could ${name}`);
  }
  return Object.keys(attempts);
}

async function succeeds(attempt: Attempt): Promise<boolean> {
  try {
    await attempt();
    return true;
  } catch {
    return false;
  }
}

function refused(): never {
  throw new Error('it is not there');
}

function called(member: string, ...args: unknown[]): unknown {
  const own = (process as unknown as Readonly<Record<string, unknown>>)[member];
  return typeof own === 'function' ? own.apply(process, args) : refused();
}

function started({ error, status }: { readonly error?: Error; readonly status: number | null }): void {
  if (error !== undefined || status === null) throw error ?? new Error('it did not start');
}

function connected(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: NETWORK_MS });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
    socket.once('timeout', () => {
      socket.destroy();
      reject(new Error('nothing came'));
    });
  });
}

function listening(path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(path, () => {
      server.close();
      resolve();
    });
  });
}
