import { spawn } from 'node:child_process';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { childEnvironment } from '../environment.ts';
import { type BwrapPlan, bwrapArguments } from './bwrap-arguments.ts';
import { findProgram } from './find-program.ts';
import { openOwnFolders } from './own-folders.ts';
import { placeInside } from './place-inside.ts';
import { isWithin, SECRET_FILES, SECRET_FOLDERS, systemFolders, toolFolders } from './readable.ts';
import { type Sandbox, type SandboxOptions, SandboxUnavailable } from './sandbox.ts';

const PROBE_TIMEOUT_MS = 5_000;
const MAX_WORDS = 500;
const INSTALL = 'install bubblewrap (Debian, Ubuntu, Fedora: package "bubblewrap")';
const NAMESPACES =
  'allow user namespaces: an AppArmor profile for bwrap that grants "userns", or sysctl kernel.apparmor_restrict_unprivileged_userns=0, or in a container a seccomp profile that admits them';

/**
 * Commands under `bwrap`, each in namespaces of its own that end with it. Rejects with
 * {@link SandboxUnavailable} where it is not there or does not run; it is tried here.
 */
export async function openBwrap(options: SandboxOptions): Promise<Sandbox> {
  if (process.platform !== 'linux') throw new SandboxUnavailable('bwrap needs Linux', 'use sandbox_backend "docker"');
  const workspace = realpathSync(options.workspace);
  if (workspace === '/') throw new SandboxUnavailable('the working directory is /, all of which would be open', 'start odek in a folder');
  const bwrap = findProgram('bwrap', options.environment.PATH, workspace);
  if (bwrap === undefined) throw new SandboxUnavailable('bwrap is not installed', INSTALL);
  const plan = await firstThatRuns(bwrap, planFor(workspace, options));
  const limit =
    options.memoryBytes === undefined ? [] : ['/bin/sh', '-c', `ulimit -d ${Math.ceil(options.memoryBytes / 1024)} && exec "$@"`, 'sh'];
  const folders = openOwnFolders(options.stateDir, options.home);
  return {
    confinement: { backend: 'bwrap', network: plan.network, readonly: plan.readonly, workspace },
    passesDescriptors: true,
    async launch({ script, command, cwd, env }) {
      const inside = await placeInside(cwd, workspace, command);
      const args = bwrapArguments({ ...plan, own: folders.paths() });
      return {
        file: bwrap,
        args: [...args.slice(0, -1), inside, '--', ...limit, '/bin/sh', '-c', script, 'sh', command],
        cwd: '/',
        env: { ...env, TMPDIR: '/tmp' },
      };
    },
    close: async () => folders.remove(),
  };
}

function planFor(workspace: string, { environment, home, stateDir, network, readonly }: SandboxOptions): Omit<BwrapPlan, keyof Rights> {
  const { readable, links } = systemFolders();
  const state = existsSync(stateDir) ? realpathSync(stateDir) : stateDir;
  const secrets = home === undefined ? [] : SECRET_FOLDERS.map((name) => join(home, name));
  const tools = toolFolders({ path: environment.PATH ?? '', home, closed: [workspace, state, ...secrets] });
  // Where the working directory is the home itself, what is secret in it is covered up.
  const covered = home !== undefined && realpathOf(home) === workspace;
  const held = (paths: readonly string[]): readonly string[] => paths.filter((path) => existsSync(path) && realpathSync(path) === path);
  return {
    workspace,
    readonly,
    network,
    readable: [...readable, ...tools],
    links,
    ...(home !== undefined && { home: realpathOf(home) }),
    hidden: [...(isWithin(state, workspace) ? held([state]) : []), ...(covered ? held(secrets) : [])],
    blanked: covered ? held(SECRET_FILES.map((name) => join(home, name))) : [],
  };
}

function realpathOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

type Rights = Pick<BwrapPlan, 'userNamespace' | 'capabilities'>;

const OWN_NAMESPACE: Rights = { userNamespace: true };
/**
 * In a namespace of its own, root has no more rights to the files of others than anybody. Where the
 * working directory is somebody else's, this is what writing it takes.
 */
const FILES_OF_OTHERS: Rights = { userNamespace: false, capabilities: ['CAP_DAC_OVERRIDE', 'CAP_CHOWN', 'CAP_FOWNER'] };

/** Tried with a user namespace of its own; by root, who can do without, in other ways as well. */
async function firstThatRuns(bwrap: string, plan: Omit<BwrapPlan, keyof Rights>): Promise<BwrapPlan> {
  const isRoot = process.getuid?.() === 0;
  const isForeign = isRoot && !plan.readonly && statSync(plan.workspace).uid !== 0;
  const ways = [...(isForeign ? [FILES_OF_OTHERS] : []), OWN_NAMESPACE, ...(isRoot ? [{ userNamespace: false }] : [])];
  let words = '';
  for (const rights of ways) {
    const tried = await faultOf(bwrap, [...bwrapArguments({ ...plan, ...rights }), '--', '/bin/sh', '-c', ':']);
    if (tried === undefined) return { ...plan, ...rights };
    words ||= tried;
  }
  throw new SandboxUnavailable(`bwrap does not run here: ${words}`, NAMESPACES);
}

/** What a program said when it failed; undefined when it did not. */
function faultOf(file: string, args: readonly string[]): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  let words = '';
  const env = childEnvironment(process.env);
  const child = spawn(file, args, { cwd: '/', env, stdio: ['ignore', 'ignore', 'pipe'], timeout: PROBE_TIMEOUT_MS, killSignal: 'SIGKILL' });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(0, MAX_WORDS);
  });
  child.on('error', (error) => resolve(error.message));
  child.on('close', (code, signal) =>
    resolve(code === 0 ? undefined : words.trim().replaceAll('\n', ' ') || `it ended with ${code ?? signal}`),
  );
  return promise;
}
