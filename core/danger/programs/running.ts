import type { DangerClass } from '../../../ports/approval.ts';
import { each, type OptionEffect, type ProgramRule, type ProgramTable } from '../rules.ts';

/** A program that starts the program its operands name. */
export interface WrapperRule {
  readonly options: Readonly<Record<string, OptionEffect>>;
  /** Operands before the command. */
  readonly skip: number;
  /** What the first of them is, where it is a path. */
  readonly first?: 'write';
  readonly adds?: readonly DangerClass[];
  readonly because?: string;
  /** `NAME=value` before the command sets variables. */
  readonly assigns?: boolean;
  /** Options also come after operands, and no operand is a command. */
  readonly permutes?: boolean;
  /** Its operands are one command line, as `sh -c` takes it. */
  readonly joins?: boolean;
}

/** Wrappers, looked through to the command they start. */
export const WRAPPERS: Readonly<Record<string, WrapperRule>> = {
  env: {
    options: {
      '-u --unset -a --argv0': 'value',
      '-C --chdir': 'folder',
      '-S --split-string': 'line',
      '-i --ignore-environment -0 -v': 'flag',
    },
    skip: 0,
    assigns: true,
  },
  sudo: {
    options: {
      '-u --user -g --group -p --prompt -C --close-from -r -t -T --command-timeout -h --host -U': 'value',
      '-D --chdir -R --chroot': 'folder',
      '-E -H -n -S -k -K -b -A -v -l --preserve-env': 'flag',
      '-i -s --login --shell': '+code_execution',
      '-e --edit': '+unknown',
    },
    skip: 0,
    adds: ['system_write'],
    because: 'runs with the rights of another user',
    assigns: true,
  },
  doas: {
    options: { '-u -C': 'value', '-n -L': 'flag', '-s': '+code_execution' },
    skip: 0,
    adds: ['system_write'],
    because: 'runs with the rights of another user',
  },
  ...wrap(
    'nohup setsid builtin caffeinate unbuffer eatmydata fakeroot catchsegv busybox toybox coproc noglob nocorrect winpty torsocks proxychains proxychains4',
    {},
    0,
  ),
  nice: { options: { '-n --adjustment': 'value' }, skip: 0 },
  ionice: { options: { '-c -n -p -P -u --class --classdata': 'value', '-t': 'flag' }, skip: 0 },
  timeout: { options: { '-s --signal -k --kill-after': 'value', '--foreground --preserve-status -v': 'flag' }, skip: 1 },
  gtimeout: { options: { '-s --signal -k --kill-after': 'value' }, skip: 1 },
  time: { options: { '-f --format': 'value', '-o --output': 'write', '-p -v -a': 'flag' }, skip: 0 },
  stdbuf: { options: { '-i -o -e --input --output --error': 'value' }, skip: 0 },
  command: { options: { '-p': 'flag' }, skip: 0 },
  exec: { options: { '-a': 'value', '-c -l': 'flag' }, skip: 0 },
  chrt: { options: { '-T -P -D': 'value' }, skip: 1, adds: ['system_write'], because: 'changes scheduling' },
  taskset: { options: { '-c': 'flag' }, skip: 1 },
  setarch: { options: {}, skip: 1 },
  chroot: { options: { '--userspec --groups': 'value' }, skip: 1, adds: ['system_write'], because: 'runs in another root' },
  unshare: { options: { '--map-user --map-group -R -w': 'value' }, skip: 0, adds: ['system_write'], because: 'runs in another namespace' },
  nsenter: { options: { '-t --target': 'value' }, skip: 0, adds: ['system_write'], because: 'runs in another namespace' },
  flock: {
    first: 'write',
    options: { '-w -E --timeout --conflict-exit-code': 'value', '-c --command': 'line', '-x -s -n -u -o': 'flag' },
    skip: 1,
  },
  watch: { options: { '-n --interval': 'value', '-d -t -b -e -g -c -x --differences': 'flag' }, skip: 0, joins: true },
  script: {
    options: { '-c --command': 'line', '-q -a -e -f': 'flag' },
    skip: 0,
    adds: ['local_write', 'code_execution'],
    because: 'records a shell',
  },
  su: {
    options: { '-c --command': 'line', '-s --shell': 'script', '-g -G -w': 'value', '-l -m -p': 'flag' },
    skip: 0,
    permutes: true,
    adds: ['system_write', 'code_execution'],
    because: 'runs a shell of another user',
  },
  runuser: {
    options: { '-u -g -G': 'value', '-c --command': 'line' },
    skip: 0,
    adds: ['system_write'],
    because: 'runs with the rights of another user',
  },
  pkexec: { options: { '--user': 'value' }, skip: 0, adds: ['system_write'], because: 'runs with the rights of another user' },
  parallel: {
    options: { '-j -a --jobs --arg-file -I -N -n --delay --timeout --joblog --results': 'value' },
    skip: 0,
    adds: ['unknown'],
    because: 'builds commands from its input',
    joins: true,
  },
  rlwrap: { options: {}, skip: 0 },
  dotenv: { options: { '-f -e': 'read' }, skip: 0, adds: ['system_write'], because: 'loads secrets' },
  'cross-env': { options: {}, skip: 0, assigns: true },
  direnv: { options: {}, skip: 2, adds: ['code_execution'], because: 'runs .envrc' },
};

function wrap(names: string, options: WrapperRule['options'], skip: number): Readonly<Record<string, WrapperRule>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, { options, skip }]));
}

const CODE = ['code_execution'] as const;

function interpreter(options: ProgramRule['options']): ProgramRule {
  return { adds: CODE, because: 'runs code', first: 'script', unless: ['-c', '-e', '-m', '-E'], operands: 'value', options: options ?? {} };
}

/** Programs that run code: shells and languages. A name with a version (`python3.12`) counts as the one without. */
export const RUNNING: ProgramTable = {
  ...each('sh bash dash zsh ksh mksh fish ash csh tcsh rbash yash elvish nu', { special: 'shell', adds: CODE, because: 'runs commands' }),
  ...each(
    'node nodejs',
    interpreter({
      '-e -p -pe --eval --print -c --check': 'code',
      '-r --require --import --loader --experimental-loader': 'script',
      '-C --conditions --input-type --max-old-space-size --stack-size --title': 'value',
      '--env-file': 'read',
      '--test': 'flag',
    }),
  ),
  ...each('deno', interpreter({ '-e': 'code', '-c --config --import-map': 'read' })),
  python: { ...interpreter({ '-c': 'code', '-m': 'value', '-W -X': 'value' }), special: 'python' },
  ...each('perl', interpreter({ '-e -E': 'code', '-M -m -I': 'value', '-i -n -p -l -a -w': 'flag' })),
  ...each('ruby', interpreter({ '-e': 'code', '-r -I -C': 'value' })),
  ...each('php', interpreter({ '-r -B -R -E': 'code', '-d -c': 'value', '-f': 'script', '-S': 'value+network_upload', '-t': 'read' })),
  ...each('lua luajit', interpreter({ '-e': 'code', '-l': 'value' })),
  ...each('Rscript R rscript', interpreter({ '-e': 'code' })),
  ...each(
    'tclsh wish expect guile sbcl clisp racket scheme clojure clj bb janet factor gforth swipl m4 dc bc gnuplot',
    interpreter({ '-e -c -eval --eval': 'code' }),
  ),
  ...each('pwsh powershell', { adds: ['code_execution', 'unknown'], because: 'runs commands of another shell' }),
  ...each('osascript', {
    adds: ['code_execution', 'system_write'],
    because: 'controls other programs',
    options: { '-e': 'code' },
    operands: 'script',
  }),
  ...each('tmux screen zellij byobu dtach abduco', {
    adds: ['code_execution', 'persistence'],
    because: 'runs commands that outlive the call',
  }),
  ...each('xargs gxargs', { special: 'xargs' }),
  ...each('bc dc factor', { adds: CODE, because: 'runs a program text', operands: 'read' }),
};

/** Names that may carry a version at their end. */
export const VERSIONED = new Set('python pip perl ruby php lua node gcc g++ clang clang++ java pwsh bash luajit'.split(' '));
