import { dirname } from 'node:path';

/** Where a folder of the machine shows up inside, at its own path unless `at` says otherwise. */
type Mount =
  | { readonly kind: 'bind' | 'ro-bind'; readonly from: string; readonly at: string }
  | { readonly kind: 'symlink'; readonly from: string; readonly at: string }
  | { readonly kind: 'proc' | 'dev' | 'tmpfs'; readonly at: string };

/** Everything that the inside of a sandbox is made of. All paths are absolute and without links. */
export interface BwrapPlan {
  readonly workspace: string;
  readonly readonly: boolean;
  readonly network: boolean;
  /** Whether a user namespace of its own is made; only root can do without. */
  readonly userNamespace: boolean;
  /** Rights that commands of root keep; none for others. */
  readonly capabilities?: readonly string[];
  /** Folders of the machine that are readable inside. */
  readonly readable: readonly string[];
  /** Links at the top of the tree, such as `/bin`, and where they lead. */
  readonly links: readonly (readonly [at: string, target: string])[];
  /** Folders that are empty inside although the working directory holds them. */
  readonly hidden: readonly string[];
  /** Files that are empty inside although the working directory holds them. */
  readonly blanked: readonly string[];
  /** What stands for the temporary folder and for the home folder. Absent: nothing that lasts. */
  readonly own?: { readonly tmp: string; readonly home: string };
  /** The path of the home folder inside; absent: there is none. */
  readonly home?: string;
}

const TEMP = ['/tmp', '/var/tmp'];

/**
 * The arguments of `bwrap` up to the program. Only what is named is there: nothing is taken away
 * from a view of the whole machine. A deeper path is mounted later, so that it shows inside a
 * shallower one; of the same path the last counts, and the working directory is named last but for
 * what is hidden in it.
 */
export function bwrapArguments(plan: BwrapPlan): string[] {
  const mounts = mountsOf(plan).sort((one, other) => depthOf(one.at) - depthOf(other.at));
  return [
    ...(plan.userNamespace ? ['--unshare-user'] : []),
    ...['--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup-try'],
    ...(plan.network ? [] : ['--unshare-net']),
    ...['--die-with-parent', '--new-session', '--cap-drop', 'ALL', '--hostname', 'sandbox'],
    ...(plan.capabilities ?? []).flatMap((name) => ['--cap-add', name]),
    ...mounts.flatMap(argumentsOf),
    // The top of the tree is a memory of its own; without this it could be filled and written.
    ...['--remount-ro', '/'],
    // Files below it set the whole kernel, and the kernel takes root in any namespace for root.
    ...['--remount-ro', '/proc'],
    ...['--chdir', plan.workspace],
  ];
}

function mountsOf(plan: BwrapPlan): Mount[] {
  const { workspace, own, home } = plan;
  const folders = TEMP.map((at): Mount => (own === undefined ? { kind: 'tmpfs', at } : { kind: 'bind', from: own.tmp, at }));
  const homeFolder: Mount[] =
    home === undefined ? [] : [own === undefined ? { kind: 'tmpfs', at: home } : { kind: 'bind', from: own.home, at: home }];
  const mounts: Mount[] = [
    { kind: 'proc', at: '/proc' },
    { kind: 'dev', at: '/dev' },
    ...plan.links.map(([at, from]): Mount => ({ kind: 'symlink', from, at })),
    ...plan.readable.map((path): Mount => ({ kind: 'ro-bind', from: path, at: path })),
    ...folders,
    ...homeFolder,
    { kind: plan.readonly ? 'ro-bind' : 'bind', from: workspace, at: workspace },
    ...plan.hidden.map((at): Mount => ({ kind: 'tmpfs', at })),
    ...plan.blanked.map((at): Mount => ({ kind: 'ro-bind', from: '/dev/null', at })),
  ];
  const last = new Map(mounts.map((mount) => [mount.at, mount]));
  return [...last.values()];
}

function argumentsOf(mount: Mount): readonly string[] {
  return 'from' in mount ? [`--${mount.kind}`, mount.from, mount.at] : [`--${mount.kind}`, mount.at];
}

function depthOf(path: string): number {
  return path === dirname(path) ? 0 : path.split('/').length;
}
