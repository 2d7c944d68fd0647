import { describe, expect, it } from 'vitest';
import { classifyCommand, denylistedBy, isAllowlisted, MAX_COMMAND_BYTES, programOf } from '../../../core/approvals/command.ts';

describe('the classes of a command', () => {
  it('are code execution for anything that can be read', () => {
    expect(classifyCommand('ls').classes).toEqual(['code_execution']);
    expect(classifyCommand('rm -rf ./build').classes).toEqual(['code_execution']);
    expect(classifyCommand('rm -rf /tmp/x').classes).toEqual(['code_execution']);
  });

  it.each([
    'rm -rf /',
    'sudo rm -r -f /',
    'cd x && rm -rf --no-preserve-root //',
    "r''m -rf '/'",
    'r\\m -fr /*',
    'echo $(rm -rf /)',
    ':(){ :|:& };:',
    'dd if=x of=/dev/sda',
  ])('are blocked for %s', (command) => expect(classifyCommand(command).classes).toEqual(['blocked']));

  it('are unknown for what is too long to read', () => {
    expect(classifyCommand(`echo ${'x'.repeat(MAX_COMMAND_BYTES)}`).classes).toEqual(['unknown']);
    expect(classifyCommand(`echo ${'é'.repeat(MAX_COMMAND_BYTES / 2)}`).classes).toEqual(['unknown']);
  });
});

describe('the allowlist', () => {
  it('takes the whole trimmed line and nothing near it', () => {
    expect(isAllowlisted('  npm test\n', ['npm test'])).toBe(true);
    for (const line of ['npm test; rm x', 'npm  test', 'X=`rm x` npm test', 'npm test\nrm x', 'npm tes', 'NPM test'])
      expect(isAllowlisted(line, ['npm test'])).toBe(false);
  });

  it('cannot speak for what is too long to read', () => {
    const long = `echo ${'x'.repeat(MAX_COMMAND_BYTES)}`;
    expect(isAllowlisted(long, [long])).toBe(false);
  });
});

describe('the denylist', () => {
  it.each([
    'git push',
    'git push origin',
    'cd x && git push',
    'A=1 git push',
    '/usr/bin/git push',
    'gi\\t "push"',
    'echo $(git push)',
    'true | git push',
  ])('with "git push" finds %s', (command) => expect(denylistedBy(command, ['npm publish', 'git push'])).toBe('git push'));

  it.each(['git pull', 'git pushed', 'push git', 'echo git push'])('with "git push" lets %s be', (command) => {
    expect(denylistedBy(command, ['git push'])).toBeUndefined();
  });

  it('with an empty entry denies nothing', () => {
    expect(denylistedBy('ls', ['', '  '])).toBeUndefined();
  });
});

describe('the program of a line', () => {
  it('comes after the assignments, without its folder', () => {
    expect([programOf('A=1 B=2 /usr/bin/make all'), programOf('  ls'), programOf('')]).toEqual(['make', 'ls', undefined]);
  });
});
