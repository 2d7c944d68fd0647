import { each, type ProgramRule, type ProgramTable } from '../rules.ts';

const READS: ProgramRule = { operands: 'read' };
const LISTS: ProgramRule = { operands: 'list' };
const TELLS: ProgramRule = {};

/**
 * Programs that only look, and what of them does more than look. An option is listed with a value only
 * where every version of the program takes one: a value that is none would hide an operand.
 */
export const READING: ProgramTable = {
  ...each(
    'tac nl wc rev fold expand unexpand fmt cmp comm od hexdump hd paste join column md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum zcat zless zgrep bzcat xzcat zstdcat tsort',
    READS,
  ),
  shuf: { operands: 'read', options: { '-o --output': 'write', '-n -i --head-count --input-range': 'value', '--random-source': 'read' } },
  ...each('head tail', { operands: 'read', options: { '-n -c --lines --bytes': 'value' } }),
  strings: { operands: 'read', options: { '-n --bytes': 'value' } },
  cut: { operands: 'read', options: { '-d -f -b -c --delimiter --fields --bytes --characters --output-delimiter': 'value' } },
  cat: { operands: 'read', special: 'cat' },
  ...each('bat batcat', { operands: 'read', options: { '--pager': 'line' } }),
  diff: { operands: 'sweep', options: { '-U -C -I -x -L --label --exclude': 'value', '--from-file --to-file -X --exclude-from': 'read' } },
  ...each('diff3 sdiff', { operands: 'sweep', options: { '-o --output': 'write', '--diff-program': 'line' } }),
  ...each('ls dir vdir exa eza lsd', LISTS),
  tree: {
    operands: 'list',
    options: {
      '-L -I -P': 'value',
      '-l': '+system_write',
      '-o': 'write',
      '--fromfile --fromtabfile': '+system_write',
      '--infofile --gitfile': 'read',
    },
  },
  du: {
    operands: 'list',
    options: {
      '-L --dereference': '+system_write',
      '-d -t --max-depth --exclude --threshold --time-style': 'value',
      '--exclude-from': 'read',
      '--files0-from': 'read+system_write',
    },
  },
  ...each('stat realpath readlink', {
    operands: 'list',
    options: { '--format --printf --max-depth --exclude': 'value', '--exclude-from': 'read', '--files0-from': 'read+system_write' },
  }),
  file: { operands: 'list', options: { '-f --files-from -m --magic-file': 'read', '-C --compile': '+local_write' } },
  ...each(
    'df lsblk free uptime uname arch nproc whoami id groups users who w logname tty locale cal ncal hostid lscpu vmstat sw_vers pwd dirs true false : sleep seq yes basename dirname factor tput clear reset wait jobs fg bg times ulimit umask shopt return exit break continue shift logout getopts expr numfmt sync stty getconf tr',
    TELLS,
  ),
  let: { adds: ['code_execution'], because: 'evaluates its arguments' },
  hostname: { adds: ['system_write'], because: 'can change the name of the machine' },
  mktemp: { adds: ['local_write'], because: 'makes a temporary file', operands: 'write', options: { '-p --tmpdir': 'write' } },
  date: { options: { '-s --set': 'value+system_write', '-d --date': 'value', '-r --reference -f --file': 'read' } },
  ...each('which whereis type whatis apropos', TELLS),
  hash: { options: { '-p': '+code_execution' } },
  ...each('grep egrep fgrep', {
    operands: 'read',
    first: 'value',
    unless: ['-e', '-f'],
    special: 'grep',
    options: {
      '-e --regexp': 'value',
      '-f --file': 'read',
      '-A -B -C -m --after-context --before-context --max-count --include --exclude --exclude-dir --label': 'value',
      '--exclude-from': 'read',
      '-d --directories': 'value',
      '-r -R --recursive --dereference-recursive': 'flag',
    },
  }),
  rg: {
    operands: 'read',
    first: 'value',
    unless: ['-e', '-f', '--files', '--type-list'],
    special: 'grep',
    options: {
      '-e --regexp': 'value',
      '-f --file --ignore-file': 'read',
      '-A -B -C -m -g -t -T -j -M -E -r --glob --iglob --type --type-not --max-count --max-depth --sort --sortr --replace --color --threads --context --after-context --before-context --encoding --max-columns --engine':
        'value',
      '--pre --hostname-bin': 'line',
      '--hidden -. -u -uu -uuu --unrestricted --no-ignore': 'flag',
      '--files': 'flag',
      '--type-list': 'flag',
    },
  },
  ...each('ag ack', {
    operands: 'read',
    first: 'value',
    special: 'grep',
    options: { '--pager': 'line', '--hidden -u -U -a': 'flag', '--output': '+unknown' },
  }),
  ...each('fd fdfind', {
    operands: 'list',
    first: 'value',
    options: {
      '-e -t -d -E -c -j -S --extension --type --max-depth --exclude --color --changed-within --changed-before --size': 'value',
      '-L --follow': '+system_write',
      '-x --exec -X --exec-batch': '+unknown',
      '--search-path --base-directory': 'list',
    },
  }),
  ...each('find gfind', { special: 'find' }),
  sort: {
    operands: 'read',
    options: {
      '-k -t -S --key --field-separator --buffer-size --parallel --batch-size': 'value',
      '-o --output': 'write',
      '-T --temporary-directory': 'write',
      '--compress-program': 'line',
      '--random-source': 'read',
      '--files0-from': 'read+system_write',
    },
  },
  uniq: { operands: 'read', last: 'write', options: { '-f -s -w --skip-fields --skip-chars --check-chars': 'value' } },
  echo: { special: 'echo' },
  printf: { special: 'printf', options: { '-v': 'value' } },
  ...each('test [', { special: 'test' }),
  ...each('awk gawk mawk nawk', {
    special: 'awk',
    options: {
      '-F -v --field-separator --assign': 'value',
      '-f --file -E --exec -l --load -i --include': 'script',
      '-o --pretty-print -d --dump-variables -p --profile': '+local_write',
      '-e --source': 'code',
    },
  }),
  ...each('sed gsed', {
    special: 'sed',
    options: {
      '-e --expression': 'value',
      '-f --file': 'script',
      '-n --quiet --silent -E -r --regexp-extended -z --null-data -s --separate -u -i --in-place --sandbox': 'flag',
    },
  }),
  ...each('jq gojq', {
    operands: 'read',
    first: 'value',
    special: 'jq',
    options: { '-f --from-file -L': 'read', '--arg --argjson': 'value', '--slurpfile --rawfile': 'value' },
  }),
  yq: {
    operands: 'read',
    first: 'value',
    special: 'jq',
    options: { '-i --inplace --in-place': '+local_write', '-s --split-exp': 'value+local_write', '--from-file': 'read' },
  },
  base64: { operands: 'read', special: 'base64', options: { '-w --wrap': 'value', '-i': 'read', '-o': 'write', '-d -D --decode': 'flag' } },
  ...each('basenc base32', { operands: 'read', options: { '-w --wrap': 'value' } }),
  xxd: { operands: 'read', last: 'write', options: { '-c -g -l -s -o -n': 'value' } },
  ps: { special: 'ps' },
  ...each('pgrep pstree lsof netstat ifconfig ip', TELLS),
  ss: { options: { '-D --diag': 'write', '-F --filter': 'read', '-K --kill': '+system_write' } },
  ip: { adds: ['system_write'], because: 'can change the network' },
  ifconfig: { adds: ['system_write'], because: 'can change the network' },
  ...each('less more most', {
    operands: 'read',
    adds: ['code_execution'],
    because: 'can start programs from its prompt',
    options: { '-o -O -k': 'write' },
  }),
  ...each('man info', { adds: ['code_execution'], because: 'starts a pager' }),
  ...each('cloc tokei scc loc', {
    operands: 'list',
    options: {
      '--extract-with --diff-list-file': 'line',
      '--list-file --config --read-lang-def --force-lang-def': 'read+system_write',
      '-o --output --out --report-file --ignored --counted --found --write-lang-def --sql': 'write',
    },
  }),
};
