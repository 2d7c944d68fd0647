import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bwrapArguments } from '../../../../adapters/process/sandbox/bwrap-arguments.ts';
import { gitIdentity } from '../../../../adapters/process/sandbox/git-identity.ts';
import { systemFolders, toolFolders } from '../../../../adapters/process/sandbox/readable.ts';

let home = '';
beforeAll(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), 'odek-tools-')));
  for (const folder of [
    '.nvm/versions/v20/bin',
    '.config/nvm/v20/bin',
    '.config/tool/bin',
    '.cargo/bin',
    '.rustup',
    '.local/bin',
    '.local/lib',
    '.local/share',
    '.ssh/bin',
    'venv/bin',
    'work/node_modules/.bin',
    'other/node_modules/.bin',
    'bin',
  ]) {
    await mkdir(join(home, folder), { recursive: true });
  }
  await writeFile(join(home, 'venv/pyvenv.cfg'), '');
  await symlink(join(home, '.ssh'), join(home, 'linked'));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const at = (name: string): string => join(home, name);
const found = (...folders: readonly string[]) =>
  toolFolders({
    path: folders.map((name) => (name.startsWith('/') || name === '' || name === '.' ? name : at(name))).join(':'),
    home,
    closed: [at('.ssh'), at('.config'), at('work')],
  });

describe('folders of programs outside the system', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['the system’s own, relative and missing ones bring nothing', ['/usr/bin', '/bin', '/opt/x/bin', '.', '', 'missing'], []],
    ['one of a version manager brings all of it', ['.nvm/versions/v20/bin'], ['.nvm']],
    ['nvm comes from among the settings too, and nothing else from there', ['.config/nvm/v20/bin', '.config/tool/bin'], ['.config/nvm']],
    ['a bin brings its libraries, and nothing else beside it', ['.local/bin'], ['.local/bin', '.local/lib']],
    ['cargo brings its programs without its credentials', ['.cargo/bin'], ['.cargo/bin', '.rustup']],
    ['a Python environment comes whole', ['venv/bin'], ['venv']],
    ['installed packages come whole', ['other/node_modules/.bin'], ['other/node_modules']],
    ['a bin of the home comes without the home', ['bin'], ['bin']],
    ['the home itself does not come', ['../'.concat(home.split('/').at(-1) ?? '')], []],
    ['one in a closed folder does not come, by a link neither', ['.ssh/bin', 'linked/bin', 'linked'], []],
    ['one in the working directory stays as it is there', ['work/node_modules/.bin'], []],
  ])('%s', (_, given, expected) => {
    expect(found(...given)).toEqual(expected.map(at));
  });

  it('hold no folder of the system that keeps passwords', () => {
    const { readable } = systemFolders();
    expect(readable).toContain('/usr');
    for (const path of readable) expect(path).not.toMatch(/^\/etc$|shadow|sudoers|\/private|\/root|\/home|\/var|\/run/);
  });
});

describe('the arguments of bwrap', () => {
  const plan = {
    workspace: '/home/u/p',
    readonly: false,
    network: false,
    userNamespace: true,
    readable: ['/usr'],
    links: [],
    hidden: [],
    blanked: [],
  } as const;

  it('mount the shallower path first, the working directory over the home, and what is hidden over both', () => {
    const args = bwrapArguments({ ...plan, home: '/home/u', hidden: ['/home/u/p/.odek'], own: { tmp: '/s/tmp', home: '/s/home' } }).join(
      ' ',
    );
    const order = [
      '--ro-bind /usr /usr',
      '--bind /s/tmp /tmp',
      '--bind /s/home /home/u ',
      '--bind /home/u/p /home/u/p',
      '--tmpfs /home/u/p/.odek',
      '--remount-ro /',
    ];
    expect(
      order.map((part) => args.indexOf(part)).every((place, index, all) => place >= 0 && (index === 0 || place > (all[index - 1] ?? 0))),
    ).toBe(true);
  });

  it('always take every namespace but the user’s where root does without, and the network’s where it is shared', () => {
    const always = ['--unshare-ipc', '--unshare-pid', '--unshare-uts', '--die-with-parent', '--new-session', '--cap-drop'];
    for (const args of [bwrapArguments(plan), bwrapArguments({ ...plan, network: true, userNamespace: false })]) {
      for (const flag of always) expect(args).toContain(flag);
    }
    expect(bwrapArguments(plan)).toEqual(expect.arrayContaining(['--unshare-user', '--unshare-net']));
    expect(bwrapArguments({ ...plan, network: true })).not.toContain('--unshare-net');
  });

  it('mount the working directory once where it is the home or the temporary folder', () => {
    for (const workspace of ['/home/u', '/tmp']) {
      const args = bwrapArguments({ ...plan, workspace, home: '/home/u' });
      expect(args.filter((each) => each === workspace)).toHaveLength(3);
      expect(args[args.indexOf(workspace) - 1]).toBe('--bind');
    }
  });
});

describe('the identity for git', () => {
  it('is name and address of the user section, and nothing else', async () => {
    const folder = at('git');
    await mkdir(join(folder, '.config', 'git'), { recursive: true });
    await writeFile(join(folder, '.config', 'git', 'config'), '[user]\nname = Old\nsigningkey = ABC\n');
    await writeFile(
      join(folder, '.gitconfig'),
      '[core]\n name = no\n[ User ]\n  Name = "Ada, \\"x"\n email=ada@example.org # mine\n email = a@b.c\n[url "https://tok@x"]\n email = evil\n',
    );
    expect(gitIdentity(folder)).toBe('[user]\n\tname = "Old"\n\temail = "a@b.c"\n');
    expect(gitIdentity(at('.rustup'))).toBe('');
  });
});
