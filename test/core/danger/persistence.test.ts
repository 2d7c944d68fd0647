import { describe, expect, it } from 'vitest';
import { makesPersistent } from '../../../core/danger/persistence.ts';
import { absolute, type Place } from '../../../core/danger/place.ts';
import type { FileChange } from '../../../ports/plugin.ts';

const place: Place = { workspace: '/project', home: '/home/me', tempDirs: [] };
const path = '/project/package.json';

function judged(change: FileChange | undefined, before: string | undefined, file = path): Promise<boolean> {
  return makesPersistent(file, place, change, async () => before);
}

const whole = (scripts: unknown, more: object = {}): FileChange => ({ path, content: JSON.stringify({ name: 'a', scripts, ...more }) });
const piece = (old: string, replacement: string, all = false): FileChange => ({ path, old, replacement, all });
const HELD = JSON.stringify({ name: 'a', scripts: { test: 'vitest', postinstall: 'node build.js' } }, undefined, 2);

describe('a place where something runs later', () => {
  it.each([
    ...[
      '/project/.envrc',
      '/project/sub/.envrc',
      '/project/.git/hooks/pre-commit',
      '/project/.GIT/Hooks/pre-push',
      '/project/.g\u200cit/hooks/pre-push',
      '/project/.git/config',
    ],
    ...[
      '/project/.git/modules/a/hooks/post-merge',
      '/project/.git/worktrees/w/config.worktree',
      '/project/sub/.git',
      '/project/.husky/pre-commit',
    ],
    ...['/project/.github/workflows/ci.yml', '/project/.GitHub/Workflows/ci.yml', '/project/.gitlab-ci.yml', '/project/Jenkinsfile'],
    ...['/project/.vscode/tasks.json', '/home/me/.bashrc', '/home/me/.zprofile', '/home/me/.config/systemd/user/x.service'],
    ...[
      '/home/me/.config/autostart/x.desktop',
      '/home/me/Library/LaunchAgents/x.plist',
      '/etc/profile.d/x.sh',
      '/etc/cron.d/x',
      '/etc/crontab',
    ],
    ...['/var/spool/cron/me', '/etc/systemd/system/x.service', '/Library/LaunchDaemons/x.plist', absolute('/private/etc/profile', '/')],
  ])('is %s, whatever is written', async (file) => {
    expect(await judged({ path: file, content: '' }, '', file)).toBe(true);
  });

  it.each([
    '/project/notes.md',
    '/project/src/hooks/use-x.ts',
    '/project/.git/info/exclude',
    '/project/workflows/ci.yml',
    '/project/Makefile',
  ])('is not %s', async (file) => {
    expect(await judged({ path: file, content: 'rm -rf /' }, '', file)).toBe(false);
  });
});

describe('a package file', () => {
  it.each([
    ['a script before the install', whole({ preinstall: 'x' })],
    ['one after another script', whole({ posttest: 'x' })],
    ['the install itself', whole({ install: 'x' })],
    ['the preparation', whole({ prepare: 'x' })],
    ['a name in escapes', { path, content: '{"scripts":{"pre\\u0069nstall":"x"}}' }],
    ['a name in other letters', whole({ PostInstall: 'x' })],
  ])('makes something run later with %s', async (_, change) => {
    expect(await judged(change, '')).toBe(true);
  });

  it.each([
    ['other scripts', whole({ test: 'x', build: 'y', start: 'z' })],
    ['no scripts', whole(undefined)],
    ['a word of it elsewhere', whole({}, { keywords: ['postinstall'] })],
  ])('does not with %s', async (_, change) => {
    expect(await judged(change, '')).toBe(false);
  });

  it('does when a patch changes such a script, in whatever pieces', async () => {
    expect(await judged(piece('build.js', 'evil.js'), HELD)).toBe(true);
    expect(await judged(piece('test', 'preinstall'), HELD)).toBe(true);
    expect(await judged(piece('st"', 'st": "x", "prepare"'), HELD)).toBe(true);
    expect(await judged(piece('node', 'evil', true), HELD)).toBe(true);
  });

  it('does not when a patch leaves such a script as it is, or takes it away', async () => {
    expect(await judged(piece('vitest', 'vitest run'), HELD)).toBe(false);
    expect(await judged(piece('"a"', '"b"'), HELD)).toBe(false);
    expect(await judged(piece(',\n    "postinstall": "node build.js"', ''), HELD)).toBe(false);
    expect(await judged({ path, content: HELD }, HELD)).toBe(false);
  });

  it('is patched as the tool patches: once, with the line ends of the file', async () => {
    const held = '{\r\n  "scripts": {\r\n    "test": "x"\r\n  }\r\n}';
    expect(await judged(piece('{\n    "test"', '{\n    "prepare": "y",\n    "test"'), held)).toBe(true);
    expect(await judged(piece('$', 'x'), held)).toBe(false);
    expect(await judged(piece('x', "$'prepare$&"), held)).toBe(false);
  });

  it('counts as dangerous where nobody knows what is put in or what it holds', async () => {
    expect(await judged(undefined, '{}')).toBe(true);
    expect(await judged(piece('a', 'b'), undefined)).toBe(true);
    expect(await judged({ path, content: '{"scripts": {"postinstall": "x", }' }, '')).toBe(true);
  });

  it('does not when what is put in is no package file at all', async () => {
    expect(await judged({ path, content: 'hello' }, '')).toBe(false);
    expect(await judged({ path, content: '[]' }, '')).toBe(false);
  });
});

describe('a conftest.py', () => {
  const conftest = '/project/tests/conftest.py';
  it('makes something run later with a fixture that nobody asks for', async () => {
    expect(await judged({ path: conftest, content: '@pytest.fixture(autouse=True)\ndef f(): ...' }, '', conftest)).toBe(true);
    expect(
      await judged({ path: conftest, old: 'fixture', replacement: 'fixture(autouse=True)' }, '@pytest.fixture\ndef f(): ...', conftest),
    ).toBe(true);
  });

  it('does not with an ordinary fixture', async () => {
    expect(await judged({ path: conftest, content: '@pytest.fixture\ndef f(): ...' }, '', conftest)).toBe(false);
  });
});
