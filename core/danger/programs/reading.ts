import { each, type ProgramTable } from '../rules.ts';

/** Programs that only look, and what of them does more than look. */
export const READING: ProgramTable = {
  ...each(
    'head tail tac nl wc rev fold expand unexpand fmt cmp comm od hexdump hd strings paste join column cut md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 shasum bat batcat zcat zless zgrep bzcat xzcat zstdcat',
    {
      operands: 'read',
      options: {
        '-n -c -w -d -f -s -b -t -k -m -u -j -A -N -v -e -o -S --lines --bytes --width --delimiter --fields --output-delimiter --skip':
          'value',
        '--files0-from': 'read',
        '--pager': 'line',
      },
    },
  ),
  cat: { operands: 'read', special: 'cat' },
  diff: {
    operands: 'read',
    options: { '-U -C -I -x -L -W -F --label --unified --context --exclude': 'value', '--from-file --to-file -X --exclude-from': 'read' },
  },
  ...each('diff3 sdiff', { operands: 'read', options: { '-o --output': 'write', '--diff-program': 'line' } }),
  ...each('ls dir vdir exa eza tree lsd', {
    operands: 'list',
    options: { '-I --ignore --hide -w --width -T --tabsize --sort --time --time-style -L -P --block-size --color': 'value', '-o': 'flag' },
  }),
  tree: { operands: 'list', options: { '-L -I -P --filelimit': 'value', '-o': 'write', '--fromfile': 'flag' } },
  ...each('stat file du realpath readlink', {
    operands: 'list',
    options: {
      '-c -f -t -d -B -m -e -F --format --printf --max-depth --exclude': 'value',
      '-X --exclude-from --files0-from --files-from': 'read',
      '-C': '+local_write',
    },
  }),
  ...each(
    'df lsblk free uptime uname arch nproc whoami id groups users who w logname tty locale date cal ncal hostid hostname getconf lscpu vmstat sw_vers pwd dirs true false : sleep seq yes basename dirname factor tput clear reset wait jobs fg bg times ulimit umask shopt return exit break continue shift logout getopts let expr numfmt mktemp sync stty',
    {
      options: { '-s --set': 'value+system_write', '-F --file': 'value+system_write', '-b': 'flag' },
    },
  ),
  ...each(
    'seq sleep yes true false : basename dirname expr pwd exit return break continue shift wait let clear numfmt factor nproc whoami id uname',
    {},
  ),
  hostname: { operands: 'value', options: { '-F --file -b': 'value+system_write' }, last: 'value' },
  mktemp: { options: { '-p --tmpdir': 'write', '-t --suffix': 'value' }, operands: 'write' },
  date: { options: { '-s --set': 'value+system_write', '-d --date -I -R -u --iso-8601': 'value', '-r --reference -f --file': 'read' } },
  ...each('which whereis type hash whatis apropos', {}),
  ...each('grep egrep fgrep', {
    operands: 'read',
    first: 'value',
    unless: ['-e', '-f'],
    special: 'grep',
    options: {
      '-e --regexp': 'value',
      '-f --file': 'read',
      '-A -B -C -m --after-context --before-context --context --max-count --include --exclude --exclude-dir --label -d -D --color --colour --binary-files':
        'value',
      '--exclude-from': 'read',
      '-r -R --recursive --dereference-recursive': 'flag',
    },
  }),
  ...each('rg ag ack', {
    operands: 'read',
    first: 'value',
    unless: ['-e', '-f', '--files', '--type-list'],
    special: 'grep',
    options: {
      '-e --regexp': 'value',
      '-f --file --ignore-file': 'read',
      '-A -B -C -m -g -t -T -j -M -E -r --glob --iglob --type --type-not --max-count --max-depth --sort --sortr --replace --color --threads --context --after-context --before-context --encoding --max-columns --engine':
        'value',
      '--pre --hostname-bin --pager --output': 'line',
      '--hidden -. -u -uu -uuu --unrestricted --no-ignore': 'flag',
      '--files': 'flag',
      '--type-list': 'flag',
    },
  }),
  ...each('fd fdfind', {
    operands: 'list',
    first: 'value',
    options: {
      '-e -t -d -E -g -c -j -S --extension --type --max-depth --exclude --glob --color --changed-within --changed-before --size': 'value',
      '-x --exec -X --exec-batch': '+unknown',
      '--search-path --base-directory': 'list',
    },
  }),
  ...each('find gfind', { special: 'find' }),
  sort: {
    operands: 'read',
    options: {
      '-k -t -S --key --field-separator --buffer-size --parallel --batch-size --sort': 'value',
      '-o --output': 'write',
      '-T --temporary-directory': 'write',
      '--compress-program': 'line',
      '--files0-from --random-source': 'read',
    },
  },
  uniq: { operands: 'read', last: 'write', options: { '-f -s -w --skip-fields --skip-chars --check-chars': 'value' } },
  tr: {},
  echo: { special: 'echo' },
  printf: { special: 'printf', options: { '-v': 'value' } },
  ...each('test [', { special: 'test' }),
  ...each('awk gawk mawk nawk', {
    special: 'awk',
    options: {
      '-F -v --field-separator --assign': 'value',
      '-f --file -E --exec -l --load -i --include': 'script',
      '-o --pretty-print -d --dump-variables -p --profile': 'write',
      '-e --source': 'code',
    },
  }),
  ...each('sed gsed', {
    special: 'sed',
    options: {
      '-e --expression': 'value',
      '-f --file': 'script',
      '-l --line-length': 'value',
      '-n --quiet --silent -E -r --regexp-extended -z --null-data -s --separate -u': 'flag',
      '-i --in-place': 'flag',
      '--sandbox': 'flag',
    },
  }),
  ...each('jq gojq', {
    operands: 'read',
    first: 'value',
    special: 'jq',
    options: {
      '-f --from-file': 'read',
      '--arg --argjson': 'value',
      '--slurpfile --rawfile': 'value',
      '-L': 'read',
      '--indent --tab': 'flag',
    },
  }),
  yq: {
    operands: 'read',
    first: 'value',
    special: 'jq',
    options: {
      '-i --inplace --in-place': '+local_write',
      '-o -p -I --output-format --input-format': 'value',
      '-s --split-exp': 'value+local_write',
    },
  },
  base64: {
    operands: 'read',
    special: 'base64',
    options: { '-w --wrap -b': 'value', '-i': 'read', '-o': 'write', '-d -D --decode': 'flag' },
  },
  ...each('basenc base32', { operands: 'read', options: { '-w --wrap': 'value' } }),
  xxd: { operands: 'read', last: 'write', options: { '-c -g -l -s -o -n -name': 'value' } },
  ...each('ps', { special: 'ps', options: { '-o -p -u -U -C -t -g -G --format --pid --user --sort': 'value' } }),
  ...each('pgrep pstree lsof ss netstat ifconfig ip', {}),
  ...each('cksum sum', { operands: 'read' }),
  ...each('less more most', {
    operands: 'read',
    adds: ['code_execution'],
    because: 'can start programs from its prompt',
    options: { '-o -O -k': 'write' },
  }),
  ...each('man info', { adds: ['code_execution'], because: 'starts a pager' }),
  ...each('cloc tokei scc loc', { operands: 'list' }),
  ...each('command builtin', {}),
};
