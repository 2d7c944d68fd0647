import { randomBytes } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CancelledError, OdekError } from '../../../ports/errors.ts';
import { openContainerRecords } from './container-records.ts';
import { commandArguments, containerArguments, killArguments, WORKSPACE } from './docker-arguments.ts';
import { createDockerClient, type DockerClient } from './docker-client.ts';
import { findProgram } from './find-program.ts';
import { placeInside } from './place-inside.ts';
import { isWithin } from './readable.ts';
import { type Sandbox, type SandboxOptions, SandboxUnavailable } from './sandbox.ts';

export interface DockerOptions extends Omit<SandboxOptions, 'network' | 'memoryBytes' | 'home' | 'remember'> {
  /** Absent: {@link DEFAULT_IMAGE}. */
  readonly image?: string;
  /** `none` or a network of the engine. */
  readonly network: string;
  /** uid:gid in numbers; absent: odek's own. */
  readonly user?: string;
  readonly memory?: string;
  readonly cpus?: string;
  /** Pause between two tries to remove a container, in milliseconds. */
  readonly retryMs?: number;
}

const DEFAULT_IMAGE = 'alpine:latest';
const PROBE_TIMEOUT_MS = 5_000;
/** Time for an image to be fetched. */
const START_TIMEOUT_MS = 10 * 60_000;
const REMOVAL_TRIES = 3;
const REMOVAL_TIMEOUT_MS = 5_000;
/** What only means something on this machine. */
const OURS = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR']);

/** A client of an engine that answers. Rejects with {@link SandboxUnavailable}. */
export async function findDocker(environment: SandboxOptions['environment'], workspace: string): Promise<DockerClient> {
  const file = findProgram('docker', environment.PATH, workspace);
  if (file === undefined) throw new SandboxUnavailable('docker is not installed', 'install Docker');
  const client = createDockerClient(file, environment);
  const { ok, words } = await client.call(['version', '--format', '{{.Server.Version}}'], { timeoutMs: PROBE_TIMEOUT_MS });
  if (!ok) throw new SandboxUnavailable(`docker does not answer: ${words}`, 'start the Docker engine, or let this user reach it');
  return client;
}

/** Commands in one container that lasts as long as the session; it is made with the first of them. */
export function openDocker(client: DockerClient, options: DockerOptions): Sandbox {
  const workspace = realpathSync(options.workspace);
  // The engine takes its mounts as a list with commas.
  if (/[,"\n]/.test(workspace))
    throw new SandboxUnavailable(`docker cannot mount ${JSON.stringify(workspace)}`, 'use a path without commas and quotes');
  const records = openContainerRecords(join(options.stateDir, 'containers'));
  const name = `odek-${randomBytes(8).toString('hex')}`;
  let started: Promise<void> | undefined;
  let closed = false;
  const leave = (): void => client.leave(['rm', '--force', name]);

  const start = async (): Promise<void> => {
    for (const left of records.takeLeft()) client.leave(['rm', '--force', left]);
    records.add(name);
    process.on('exit', leave);
    const { ok, words } = await client.call(containerArguments(planFor(name, workspace, options)), { timeoutMs: START_TIMEOUT_MS });
    if (!ok) throw new OdekError('spawn_failed', `the container could not be started: ${words}`);
  };
  const ready = async (): Promise<void> => {
    if (closed) throw new OdekError('spawn_failed', 'the container is gone: the session is over');
    started ??= start();
    // What failed once may work the next time, as an image that could not be fetched.
    await started.catch((error: unknown) => {
      started = undefined;
      throw error;
    });
  };

  return {
    confinement: { backend: 'docker', network: options.network !== 'none', readonly: options.readonly, workspace: WORKSPACE },
    passesDescriptors: false,
    async launch({ script, command, cwd, env }, signal) {
      const inside = join(WORKSPACE, relative(workspace, await placeInside(cwd, workspace, command)));
      await Promise.race([ready(), whenAborted(signal)]);
      const mark = randomBytes(8).toString('hex');
      const variables = Object.fromEntries(Object.entries(env).filter(([variable]) => !OURS.has(variable)));
      return {
        file: client.file,
        args: commandArguments({ name, mark, script, command, cwd: inside, env: variables }),
        cwd: '/',
        env: client.env,
        kill: () => client.leave(killArguments(name, mark)),
      };
    },
    async close() {
      if (closed) return;
      closed = true;
      if (started === undefined) return;
      await started.catch(() => {});
      if (await remove(client, name, options.retryMs ?? REMOVAL_TIMEOUT_MS)) records.remove(name);
      process.off('exit', leave);
    },
  };
}

async function remove(client: DockerClient, name: string, retryMs: number): Promise<boolean> {
  for (let tried = 1; tried <= REMOVAL_TRIES; tried += 1) {
    const { ok, words } = await client.call(['rm', '--force', name], { timeoutMs: REMOVAL_TIMEOUT_MS });
    if (ok || /no such container/i.test(words)) return true;
    if (tried < REMOVAL_TRIES) await sleep(retryMs);
  }
  return false;
}

function planFor(
  name: string,
  workspace: string,
  { image = DEFAULT_IMAGE, network, readonly, user, memory, cpus, stateDir }: DockerOptions,
) {
  const state = existsSync(stateDir) ? realpathSync(stateDir) : stateDir;
  return {
    name,
    image,
    workspace,
    network,
    readonly,
    user: user ?? `${process.getuid?.() ?? 0}:${process.getgid?.() ?? 0}`,
    ...(memory !== undefined && { memory }),
    ...(cpus !== undefined && { cpus }),
    hidden: isWithin(state, workspace) ? [join(WORKSPACE, relative(workspace, state))] : [],
  };
}

function whenAborted(signal: AbortSignal | undefined): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  if (signal?.aborted === true) reject(new CancelledError());
  signal?.addEventListener('abort', () => reject(new CancelledError()), { once: true });
  return promise;
}
