import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A program named `docker` that notes each call and does on this machine what an engine does in a
 * container: `exec` runs the command in the folder that was mounted, without the mark by which
 * processes of this machine are found. `fail-<verb>` in its folder
 * makes a verb fail as often as the number in it says.
 */
const PROGRAM = `#!/bin/sh
here="$(dirname "$0")/.."
verb="$1"
{ for each in "$@"; do printf '%s\\0' "$each"; done; printf '\\n\\0'; } >> "$here/calls"
left="$(cat "$here/fail-$verb" 2>/dev/null || echo 0)"
if [ "$left" -gt 0 ]; then echo $((left - 1)) > "$here/fail-$verb"; echo "cannot $verb now" >&2; exit 1; fi
case "$verb" in
  version) echo 27.0 ;;
  build) cat > "$here/dockerfile" ;;
  run)
    for each in "$@"; do case "$each" in type=bind,*) echo "$each" | sed 's/.*source=\\([^,]*\\),.*/\\1/' > "$here/mounted" ;; esac; done
    env > "$here/environment" ;;
  exec)
    shift
    dir=/workspace
    while [ $# -gt 0 ]; do
      case "$1" in
        --interactive) shift ;;
        --workdir) dir="$2"; shift 2 ;;
        --env) export "$2"; shift 2 ;;
        *) break ;;
      esac
    done
    shift
    cd "$(cat "$here/mounted")\${dir#/workspace}" && exec env -u ODEK_JOB "$@" ;;
esac
`;

export interface DockerPlace {
  readonly work: string;
  readonly state: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The arguments of every call so far. */
  calls(): Promise<readonly (readonly string[])[]>;
  fail(verb: string, times: number): Promise<void>;
  file(name: string): Promise<string>;
  close(): Promise<void>;
}

/** A working directory, a state folder and a stand-in for the engine. */
export async function dockerPlace(): Promise<DockerPlace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'odek-docker-')));
  const [work, state, bin] = [join(root, 'work'), join(root, 'state'), join(root, 'bin')];
  for (const folder of [work, state, bin]) await mkdir(folder);
  await writeFile(join(bin, 'docker'), PROGRAM);
  await chmod(join(bin, 'docker'), 0o755);
  const file = (name: string): Promise<string> => readFile(join(root, name), 'utf8').catch(() => '');
  return {
    work,
    state,
    environment: { ...process.env, PATH: `${bin}:${process.env.PATH}`, DOCKER_HOST: 'unix:///nowhere.sock', MY_TOKEN: 'canary-docker' },
    calls: async () =>
      (await file('calls'))
        .split('\n\0')
        .filter((call) => call !== '')
        .map((call) => call.split('\0').slice(0, -1)),
    fail: (verb, times) => writeFile(join(root, `fail-${verb}`), String(times)),
    file,
    close: () => rm(root, { recursive: true, force: true }),
  };
}
