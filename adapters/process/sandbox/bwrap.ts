import { spawn } from 'node:child_process';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { childEnvironment } from '../environment.ts';
import { type BwrapPlan, bwrapArguments } from './bwrap-arguments.ts';
import { findProgram } from './find-program.ts';
import { gitIdentity } from './git-identity.ts';
import { openOwnFolders } from './own-folders.ts';
import { placeInside } from './place-inside.ts';
import { isWithin, SECRET_FILES, SECRET_FOLDERS, systemFolders, toolFolders } from './readable.ts';
import { type Sandbox, type SandboxOptions, SandboxUnavailable } from './sandbox.ts';
import { openTried, type Tried } from './tried.ts';

const PROBE_TIMEOUT_MS = 5_000;
const MAX_WORDS = 500;
const INSTALL = 'install bubblewrap (Debian, Ubuntu, Fedora: package "bubblewrap")';
const NAMESPACES =
  'allow user namespaces: an AppArmor profile for bwrap that grants "userns", or sysctl kernel.apparmor_restrict_unprivileged_userns=0, or in a container a seccomp profile that admits them';

/**
 * Commands under `bwrap`, each in namespaces of its own that end with it. Rejects with
 * {@link SandboxUnavailable} where it is not there or does not run; it is tried here, unless it was before.
 */
export async function openBwrap(options: SandboxOptions): Promise<Sandbox> {
  if (process.platform !== 'linux') throw new SandboxUnavailable('bwrap needs Linux', 'install Docker and start it');
  const workspace = realpathSync(options.workspace);
  if (workspace === '/') throw new SandboxUnavailable('the working directory is /, all of which would be open', 'start odek in a folder');
  const bwrap = findProgram('bwrap', options.environment.PATH, workspace);
  if (bwrap === undefined) throw new SandboxUnavailable('bwrap is not installed', INSTALL);
  const tried = options.remember === true ? openTried(join(options.stateDir, 'sandbox-tried.json'), bwrap) : undefined;
  const plan = await firstThatRuns(bwrap, planFor(workspace, options), tried);
  const limit =
    options.memoryBytes === undefined ? [] : ['/bin/sh', '-c', `ulimit -d ${Math.ceil(options.memoryBytes / 1024)} && exec "$@"`, 'sh'];
  const folders = openOwnFolders(options.stateDir, gitSettings(workspace, options.home));
  return {
    confinement: { backend: 'bwrap', network: plan.network, readonly: plan.readonly, workspace },
    passesDescriptors: true,
    async launch({ script, command, cwd, env }) {
      const inside = await placeInside(cwd, workspace, command);
      // The first call makes them in the state folder, which is there to be covered up from then on.
      const own = folders.paths();
      const args = bwrapArguments({ ...plan, ...coveredIn(workspace, options), own });
      return {
        file: bwrap,
        args: [...args.slice(0, -1), inside, '--', ...limit, '/bin/sh', '-c', script, 'sh', command],
        cwd: '/',
        env: { ...env, TMPDIR: '/tmp' },
      };
    },
    failed: () => tried?.forget(),
    close: async () => folders.remove(),
  };
}

/** What git is told inside. It takes a folder of somebody else for a trap; in here there is nothing to be caught. */
function gitSettings(workspace: string, home: string | undefined): string {
  const isForeign = statSync(workspace).uid !== process.getuid?.();
  const safe = isForeign ? `[safe]\n\tdirectory = ${JSON.stringify(workspace)}\n\tdirectory = ${JSON.stringify(`${workspace}/*`)}\n` : '';
  return `${home === undefined ? '' : gitIdentity(home)}${safe}`;
}

function planFor(workspace: string, options: SandboxOptions): Omit<BwrapPlan, keyof Rights> {
  const { environment, home, network, readonly } = options;
  const { readable, links } = systemFolders();
  const secrets = home === undefined ? [] : SECRET_FOLDERS.map((name) => join(home, name));
  const tools = toolFolders({ path: environment.PATH ?? '', home, closed: [workspace, realpathOf(options.stateDir), ...secrets] });
  return {
    workspace,
    readonly,
    network,
    readable: [...readable, ...tools],
    links,
    ...(home !== undefined && { home: realpathOf(home) }),
    ...coveredIn(workspace, options),
  };
}

/** What is covered up in a working directory that holds it, as far as it exists by now. */
function coveredIn(workspace: string, { home, stateDir }: SandboxOptions): Pick<BwrapPlan, 'hidden' | 'blanked'> {
  const state = realpathOf(stateDir);
  const held = (paths: readonly string[], isFolder: boolean): readonly string[] =>
    paths.filter((path) => existsSync(path) && realpathSync(path) === path && statSync(path).isDirectory() === isFolder);
  const places =
    home !== undefined && realpathOf(home) === workspace
      ? (names: readonly string[]) => names.map((name) => join(workspace, name))
      : () => [];
  return {
    hidden: [...(isWithin(state, workspace) ? held([state], true) : []), ...held(places(SECRET_FOLDERS), true)],
    blanked: held(places(SECRET_FILES), false),
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
async function firstThatRuns(bwrap: string, plan: Omit<BwrapPlan, keyof Rights>, tried: Tried | undefined): Promise<BwrapPlan> {
  const isRoot = process.getuid?.() === 0;
  const isForeign = isRoot && !plan.readonly && statSync(plan.workspace).uid !== 0;
  const ways = [...(isForeign ? [FILES_OF_OTHERS] : []), OWN_NAMESPACE, ...(isRoot ? [{ userNamespace: false }] : [])];
  let words = '';
  for (const rights of ways) {
    const args = bwrapArguments({ ...plan, ...rights });
    const known = tried?.has(args) === true;
    const fault = known ? undefined : await faultOf(bwrap, [...args, '--', '/bin/sh', '-c', ':']);
    if (fault === undefined) {
      if (!known) tried?.add(args);
      return { ...plan, ...rights };
    }
    words ||= fault;
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
