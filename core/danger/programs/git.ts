import type { DangerClass } from '../../../ports/approval.ts';
import { each, type ProgramRule } from '../rules.ts';

const WRITES: readonly DangerClass[] = ['local_write'];
const GETS: readonly DangerClass[] = ['network_egress', 'local_write'];
const CODE: readonly DangerClass[] = ['code_execution'];
const LOSES: readonly DangerClass[] = ['system_write'];

const SHOWING = {
  '--output': 'write',
  '--ext-diff --textconv': '+code_execution',
  '-O': 'read',
  '--no-index': 'flag',
  '--contents --ignore-revs-file': 'read',
  '-n -S -G -L -U --format --since --until --after --before --author --grep --max-count --skip --diff-filter': 'value',
} as const;
const TALKING = {
  '--upload-pack --receive-pack --exec': 'line',
  '-c --config': 'value+code_execution',
  '-o --origin --push-option --server-option': 'value',
  '-b --branch --depth -j --jobs --filter --refmap': 'value',
} as const;
const EDITING = {
  '-F --file -t --template': 'read',
  '--pathspec-from-file --contents': 'read+system_write',
  '--stdin --stdin-paths --index-info': '+system_write',
  '--index-output': 'write',
  '-m --message --author --date -C -c --fixup --squash --trailer': 'value',
} as const;

/** git, by verb. What a verb runs in an armed repository is asked for apart. */
export const GIT: ProgramRule = {
  special: 'git',
  bare: ['safe'],
  verbs: {
    ...each(
      'status show log diff shortlog blame annotate whatchanged show-branch range-diff diff-tree diff-index diff-files format-patch',
      { options: SHOWING },
    ),
    'format-patch': { adds: WRITES, because: 'writes patches', options: { ...SHOWING, '-o --output-directory': 'write' } },
    ...each(
      'rev-parse rev-list ls-files ls-tree merge-base name-rev describe count-objects for-each-ref show-ref cat-file help version check-ignore check-attr verify-commit verify-tag cherry fsck merge-tree get-tar-commit-id check-ref-format patch-id',
      {
        options: { '--textconv --filters': '+code_execution', '--lost-found': '+local_write', '-w --web': '+code_execution' },
      },
    ),
    var: { options: { '-l': '+system_write' } },
    grep: {
      options: {
        '-O --open-files-in-pager': 'line+code_execution',
        '--no-index --untracked --no-exclude-standard': '+system_write',
        '-f': 'read',
        '-e -A -B -C -m --max-depth --threads': 'value',
        '--textconv': '+code_execution',
      },
    },
    'ls-remote': { adds: ['network_egress'], because: 'asks another repository', options: TALKING, operands: 'address' },
    ...each('fetch pull', {
      adds: GETS,
      because: 'gets from another repository',
      options: { ...TALKING, '-f --force': 'flag', '-p --prune': 'flag' },
    }),
    clone: {
      adds: GETS,
      because: 'gets another repository',
      options: {
        ...TALKING,
        '-u': 'line',
        '--template': 'read+code_execution',
        '--separate-git-dir': 'write',
        '--recurse-submodules --recursive': '+code_execution',
      },
      operands: 'write',
      first: 'address',
    },
    push: {
      adds: ['network_upload', 'network_egress'],
      because: 'sends to another repository',
      options: { ...TALKING, '-f --force --force-with-lease --force-if-includes -d --delete --mirror --prune': '+system_write' },
    },
    ...each(
      'add commit merge revert cherry-pick am init notes mv pack-refs commit-graph multi-pack-index rerere update-index read-tree write-tree commit-tree hash-object mktree mktag stage apply bundle sparse-checkout maintenance repack',
      { adds: WRITES, because: 'changes the repository', options: EDITING },
    ),
    am: { adds: WRITES, because: 'changes the repository', operands: 'unpack' },
    'hash-object': { adds: WRITES, because: 'stores files', operands: 'read', options: { ...EDITING, '-t --path': 'value', '-w': 'flag' } },
    apply: {
      adds: WRITES,
      because: 'changes files',
      operands: 'unpack',
      options: { '--unsafe-paths': '+system_write', '--directory': 'write', '-p': 'value' },
    },
    init: {
      adds: WRITES,
      because: 'makes a repository',
      operands: 'write',
      options: { '--template': 'read+code_execution', '--separate-git-dir': 'write', '-b --initial-branch --object-format': 'value' },
    },
    maintenance: { adds: ['persistence'], because: 'can make tasks run by themselves' },
    bundle: { adds: WRITES, because: 'writes a file', operands: 'write', first: 'value' },
    rm: { adds: LOSES, because: 'deletes files', options: { '--cached -n --dry-run': 'flag' } },
    mv: { adds: WRITES, because: 'moves files', operands: 'change' },
    ...each('branch tag', {
      adds: WRITES,
      because: 'changes references',
      options: {
        '-D -d --delete -f --force -M': '+system_write',
        '-F --file': 'read',
        '-u --sort --format --points-at --set-upstream-to -m --message': 'value',
        '--edit-description': '+code_execution',
      },
    }),
    worktree: {
      options: { '--porcelain -v -z': 'flag' },
      verbs: {
        list: {},
        ...each('add move repair', {
          adds: WRITES,
          because: 'makes or moves a working tree',
          operands: 'write',
          options: { '-b --reason': 'value', '-f --force -B': '+system_write' },
        }),
        ...each('lock unlock', { adds: WRITES, because: 'changes a working tree' }),
        ...each('remove prune', { adds: LOSES, because: 'deletes a working tree' }),
      },
    },
    ...each('switch', {
      adds: WRITES,
      because: 'changes the working tree',
      options: { '-f --force --discard-changes -C': '+system_write' },
    }),
    checkout: { adds: LOSES, because: 'can overwrite work that is not committed' },
    restore: { adds: LOSES, because: 'overwrites work that is not committed' },
    ...each('reset clean filter-branch filter-repo gc prune reflog update-ref replace rebase prune-packed', {
      adds: LOSES,
      because: 'can lose work',
    }),
    stash: {
      adds: WRITES,
      because: 'moves work away',
      verbs: {
        ...each('list show', {}),
        ...each('drop clear', { adds: LOSES, because: 'loses stored work' }),
        ...each('push save pop apply create store branch', { adds: WRITES, because: 'moves work' }),
      },
      bare: ['local_write'],
    },
    remote: {
      verbs: {
        ...each('show get-url', { adds: ['network_egress'], because: 'asks another repository' }),
        ...each('add rename set-url set-head set-branches update', {
          adds: ['local_write', 'code_execution'],
          because: 'changes where the repository talks to',
        }),
        ...each('remove rm prune', { adds: LOSES, because: 'forgets branches' }),
      },
      bare: ['safe'],
      others: ['unknown'],
      options: { '-v --verbose': 'flag' },
    },
    submodule: {
      verbs: {
        ...each('status summary', {}),
        ...each('foreach', { adds: CODE, because: 'runs a command in each submodule', operands: 'line' }),
      },
      bare: ['network_egress', 'local_write', 'code_execution'],
    },
    ...each(
      'config credential difftool mergetool hook bisect gui citool instaweb daemon gitk send-email request-pull svn p4 cvsimport archimport fast-import fast-export imap-send http-backend shell lfs subtree',
      { adds: CODE, because: 'sets or runs what is executed' },
    ),
    ...each('daemon instaweb send-email svn imap-send http-backend', {
      adds: ['code_execution', 'network_upload'],
      because: 'sends or serves data',
    }),
    credential: { adds: ['system_write', 'code_execution'], because: 'reads stored passwords' },
    archive: {
      adds: WRITES,
      because: 'writes an archive',
      options: { '-o --output': 'write', '--exec --remote': 'line+network_egress', '--format --prefix': 'value' },
    },
    'symbolic-ref': { adds: WRITES, because: 'changes references' },
  },
};
/** Options before the verb. */
export const GIT_GLOBALS: ProgramRule = {
  options: {
    '-C --git-dir --work-tree': 'folder',
    '-c': 'value',
    '--config-env': 'value+code_execution',
    '--exec-path': '+code_execution',
    '--namespace --super-prefix --list-cmds --attr-source': 'value',
    '-p --paginate': '+code_execution',
    '-P --no-pager --bare --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs --no-optional-locks --no-advice':
      'flag',
    '--version -v --help -h --html-path --man-path --info-path': 'flag',
  },
};

/** Configuration keys that change only how things look. */
export const PLAIN_GIT_KEYS = [
  'color.',
  'user.name',
  'user.email',
  'core.quotepath',
  'core.autocrlf',
  'core.abbrev',
  'log.',
  'diff.renames',
  'diff.algorithm',
  'advice.',
  'init.defaultbranch',
  'core.longpaths',
];
