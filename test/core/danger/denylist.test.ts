import { describe, expect, it } from 'vitest';
import { denylistedBy } from '../../../core/danger/denylist.ts';
import { verdictOf } from './line.ts';

const hit = (line: string, ...denylist: string[]): string | undefined => denylistedBy(verdictOf(line).commands, denylist);

describe('a denylist with "git push"', () => {
  it.each([
    'git push',
    'git push origin',
    'cd x && git push',
    'A=1 git push',
    '/usr/bin/git push',
    './bin/git push',
    'GIT push',
    'gi\\t "push"',
    "$'git' push",
    'echo $(git push)',
    'echo "`git push`"',
    'true | git push',
    'while true; do git push; done',
    'if git push; then :; fi',
    'f() { git push; }; f',
    'f() { git "$@"; }; f push',
    'sudo -u x git push',
    'env A=1 timeout 5 nice git push',
    'sh -c "git push"',
    'bash -c \'sh -c "git push"\'',
    'eval git push',
    'trap "git push" EXIT',
    'find . -exec git push \\;',
    'xargs git push',
    'echo push | xargs git',
    'X=push; git $X',
    'G=git; $G push',
    'for v in pull push; do git $v; done',
    'git -C sub push',
    'git -c a=b --no-pager push',
    'git --git-dir=x --work-tree y push',
    'sh <<E\ngit push\nE',
    'echo git push | sh',
    '((git push))',
  ])('finds %j', (line) => expect(hit(line, 'npm publish', 'git push')).toBe('git push'));

  it.each(['git pull', 'git pushed', 'push git', 'echo git push', "echo 'git push'", 'git log push', 'legit push', '# git push', 'git $X'])(
    'lets %j be',
    (line) => expect(hit(line, 'git push')).toBeUndefined(),
  );
});

describe('a denylist', () => {
  it('compares tokens, not meanings: "rm -rf /" is neither "rm -rf /tmp" nor "rm -fr /"', () => {
    expect(['rm -rf /', 'rm -rf / x', 'rm -rf "/"', 'rm -rf /tmp', 'rm -fr /', 'rm -r -f /'].map((line) => hit(line, 'rm -rf /'))).toEqual([
      'rm -rf /',
      'rm -rf /',
      'rm -rf /',
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('takes a program alone, with quotes and folders in the entry', () => {
    expect([hit('curl x', 'curl'), hit('/bin/curl x', 'curl'), hit('curl x', '/opt/curl'), hit('curl -d @x y', '"curl" -d')]).toEqual([
      'curl',
      'curl',
      '/opt/curl',
      '"curl" -d',
    ]);
  });

  it('matches a wrapper as well as what it starts', () => {
    expect([hit('sudo ls', 'sudo'), hit('sudo ls', 'ls'), hit('sudo ls', 'sudo ls')]).toEqual(['sudo', 'ls', 'sudo ls']);
  });

  it.each([
    ['docker --context x --log-level debug run y', 'docker run'],
    ['podman --connection x run y', 'podman run'],
    ['nerdctl -n x run y', 'nerdctl run'],
    ['kubectl -n prod --context=x delete pod', 'kubectl delete'],
    ['helm --kube-context x uninstall y', 'helm uninstall'],
    ['gh -R a/b pr merge', 'gh pr merge'],
    ['npm --prefix x publish', 'npm publish'],
    ['cargo --color always publish', 'cargo publish'],
    ['terraform -chdir=x destroy', 'terraform destroy'],
    ['tofu -chdir x apply', 'tofu apply'],
  ])('skips the options before the verb: %s', (line, entry) => expect(hit(line, entry)).toBe(entry));

  it('with empty entries, or without any, denies nothing', () => {
    expect([hit('ls', '', '  '), hit('ls')]).toEqual([undefined, undefined]);
  });
});
