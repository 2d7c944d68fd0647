import { type KeySpec, ONE_WORD } from './key-spec.ts';

const SIZE = { test: /^[1-9]\d{0,11}[bkmg]?$/i, says: 'a number of bytes, or one with k, m or g behind it, such as "512m"' } as const;
const SHARE = { test: /^(\d{1,3}(\.\d{1,3})?)$/, says: 'a number of processors, such as "1.5"' } as const;
const USER = { test: /^\d{1,9}(:\d{1,9})?$/, says: 'uid or uid:gid in numbers' } as const;
const NETWORK = { test: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/, says: 'none, or the name of a network such as "bridge"' } as const;

/** Keys about where the commands of `shell` and `bg_start` run. */
export const SANDBOX_KEYS: readonly KeySpec[] = [
  {
    key: 'sandbox',
    type: 'boolean',
    env: 'ODEK_SANDBOX',
    flag: 'sandbox',
    project: 'raise',
    summary: 'Run commands apart from the machine. Default: on for `run`, `continue` and `repl` where the machine can, else a warning.',
  },
  {
    key: 'sandbox_required',
    type: 'boolean',
    default: false,
    env: 'ODEK_REQUIRE_SANDBOX',
    project: 'raise',
    summary: 'Refuse to start where there is no sandbox. The flag `--sandbox` asks for the same.',
  },
  {
    key: 'sandbox_backend',
    type: 'choice',
    default: 'auto',
    choices: ['auto', 'bwrap', 'docker'],
    project: 'ignored',
    summary: 'What keeps commands apart; `auto` takes `bwrap` where it runs, else Docker.',
  },
  {
    key: 'sandbox_image',
    type: 'string',
    pattern: ONE_WORD,
    env: 'ODEK_SANDBOX_IMAGE',
    flag: 'sandbox-image',
    project: 'ask',
    summary: 'Image of the container. Default: `alpine:latest`. Docker only.',
  },
  {
    key: 'sandbox_network',
    type: 'string',
    default: 'none',
    pattern: NETWORK,
    env: 'ODEK_SANDBOX_NETWORK',
    flag: 'sandbox-network',
    project: 'ask',
    summary:
      "Network of commands: `none`, or a Docker network. `bwrap` knows no network of its own: anything but `none` is the machine's, 127.0.0.1 included. `host` counts as `none`.",
  },
  {
    key: 'sandbox_readonly',
    type: 'boolean',
    default: false,
    env: 'ODEK_SANDBOX_READONLY',
    flag: 'sandbox-readonly',
    project: 'raise',
    summary: 'Commands cannot write the working directory either.',
  },
  {
    key: 'sandbox_memory',
    type: 'string',
    pattern: SIZE,
    env: 'ODEK_SANDBOX_MEMORY',
    flag: 'sandbox-memory',
    project: 'ask',
    summary: 'Memory, such as `512m`: of the container, or under `bwrap` of each process for its data.',
  },
  {
    key: 'sandbox_cpus',
    type: 'string',
    pattern: SHARE,
    env: 'ODEK_SANDBOX_CPUS',
    flag: 'sandbox-cpus',
    project: 'ask',
    summary: 'Processors of the container, such as `1.5`. Docker only.',
  },
  {
    key: 'sandbox_user',
    type: 'string',
    pattern: USER,
    env: 'ODEK_SANDBOX_USER',
    flag: 'sandbox-user',
    project: 'ask',
    summary: 'uid:gid in the container. Default: your own. Docker only; under `bwrap` it is always your own.',
  },
];
