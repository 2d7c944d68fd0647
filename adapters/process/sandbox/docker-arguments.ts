/** What a container is made of. Paths are absolute. */
export interface ContainerPlan {
  readonly name: string;
  readonly image: string;
  readonly workspace: string;
  readonly readonly: boolean;
  /** `none` or the name of a network of the engine. */
  readonly network: string;
  /** uid:gid in numbers. */
  readonly user: string;
  /** As the engine writes sizes, such as `512m`. */
  readonly memory?: string;
  readonly cpus?: string;
  /** Paths below {@link WORKSPACE} that are empty inside. */
  readonly hidden: readonly string[];
}

/** Where the working directory is in every container. */
export const WORKSPACE = '/workspace';

const TEMP = '/tmp:rw,noexec,nosuid,nodev,size=512m,mode=1777';
const MAX_PROCESSES = '1024';
const STAY = 'while :; do sleep 3600; done';

/** The arguments of `docker` that start the container of a session, which waits for commands. */
export function containerArguments(plan: ContainerPlan): string[] {
  const { name, image, workspace, readonly, network, user, memory, cpus, hidden } = plan;
  return [
    ...['run', '--detach', '--init', '--name', name, '--label', 'odek.sandbox=1'],
    ...['--network', network, '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--pids-limit', MAX_PROCESSES],
    ...['--tmpfs', TEMP, '--env', 'HOME=/tmp', '--user', user, '--workdir', WORKSPACE],
    ...['--mount', `type=bind,source=${workspace},target=${WORKSPACE}${readonly ? ',readonly' : ''}`],
    ...hidden.flatMap((path) => ['--tmpfs', path]),
    ...(memory === undefined ? [] : ['--memory', memory, '--memory-swap', memory]),
    ...(cpus === undefined ? [] : ['--cpus', cpus]),
    ...['--entrypoint', 'sh', image, '-c', STAY],
  ];
}

/**
 * Runs a script (`$2`) with a command line (`$3`) as the head of a group of its own, whose number is
 * kept in a file named after `$1`, and ends the group when the command ends. A child in the
 * background would read nothing, so its input is handed to it.
 */
const WRAPPER =
  'exec 5<&0; setsid sh -c "$2" sh "$3" <&5 5<&- & pid=$!; exec 5<&-; echo $pid >"/tmp/.odek-$1"; wait $pid; code=$?; kill -9 -$pid 2>/dev/null; rm -f "/tmp/.odek-$1"; exit $code';

const KILL =
  'n=0; while [ ! -s "/tmp/.odek-$1" ] && [ $n -lt 20 ]; do n=$((n+1)); sleep 0.1; done; kill -9 -"$(cat "/tmp/.odek-$1")"; rm -f "/tmp/.odek-$1"';

export interface ContainerCommand {
  readonly name: string;
  /** Random, for this command alone. */
  readonly mark: string;
  readonly script: string;
  readonly command: string;
  /** Absolute path inside. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The arguments of `docker` that run one command. Both texts are arguments: no shell puts them together. */
export function commandArguments({ name, mark, script, command, cwd, env }: ContainerCommand): string[] {
  const variables = Object.entries(env).flatMap(([variable, value]) => ['--env', `${variable}=${value}`]);
  return ['exec', '--interactive', '--workdir', cwd, ...variables, name, 'sh', '-c', WRAPPER, 'sh', mark, script, command];
}

/** The arguments of `docker` that end one command with its group. */
export function killArguments(name: string, mark: string): string[] {
  return ['exec', name, 'sh', '-c', KILL, 'sh', mark];
}

/** The arguments of `docker` that make an image of a file given on standard input. */
export function buildArguments(tag: string, workspace: string, network: boolean): string[] {
  return ['build', '--tag', tag, '--network', network ? 'default' : 'none', '--file', '-', workspace];
}
