import { describe, expect, it } from 'vitest';
import { denialsIn } from '../../../core/recovery/denials.ts';

describe('an answer that denies effects', () => {
  it.each([
    ['No changes were made.', 'changes'],
    ['No changes were made', 'changes'],
    ['No files were modified in the project.', 'changes'],
    ['Unfortunately, no changes have been made to your files.', 'changes'],
    ['I looked at everything, but no edits were made.', 'changes'],
    ['I did not make any changes.', 'changes'],
    ['I didn’t make any changes to the files.', 'changes'],
    ["I haven't changed anything.", 'changes'],
    ['I was unable to write any files.', 'changes'],
    ['I have made no changes.', 'changes'],
    ['Nothing was written to disk.', 'changes'],
    ['**Result:** all good. The files remain unchanged.', 'changes'],
    ['- No commands were executed.', 'commands'],
    ['None of the commands were run.', 'commands'],
    ['I could not run any commands.', 'commands'],
    ['The command did not run.', 'command'],
    ['Sorry: the shell command was not executed because of a permission problem.', 'command'],
    ['Nothing was executed.', 'anything'],
    ["I didn't do anything.", 'anything'],
    ['Shell access is blocked.', 'blocked'],
    ['Command execution is blocked in this environment.', 'blocked'],
    ['All file writes are blocked here.', 'blocked'],
    ['The edits were blocked.', 'blocked'],
    ['The command was blocked by policy.', 'blocked'],
  ])('%j is one about %s', (answer, denial) => {
    expect([...denialsIn(answer)]).toEqual([denial]);
  });

  it('may deny several things', () => {
    expect(denialsIn('No commands were executed. Nothing was changed.')).toEqual(new Set(['commands', 'changes']));
  });
});

describe('an answer that is not taken for a denial', () => {
  it.each([
    'Done: I changed three files.',
    'No other changes were made.',
    'No further edits were made.',
    'No breaking changes were made.',
    'No changes were needed.',
    'No changes were made to package.json.',
    'No changes were made in the src folder.',
    'No changes were made to the files in src/api.',
    'No changes were made besides the new test.',
    'No files were changed except notes.txt.',
    'Nothing else was changed.',
    'Apart from that, nothing was changed.',
    'I did not change config.json.',
    'I did not change any of your settings.',
    'I did not run the tests.',
    'I have not run any commands yet.',
    'The tests did not run.',
    'The cron job did not run last night.',
    'The function did not run because of a missing import.',
    'Before the fix the command did not run.',
    'If the command did not run, try it again.',
    'The port is blocked by the firewall.',
    'The event loop is blocked while the file is read.',
    'The pull request is blocked.',
    'The log says no changes were made.',
    'The page printed that nothing was written.',
    'It is not true that nothing was changed.',
    '> No changes were made.',
    'The message "No changes were made." is misleading.',
    'The tool answers `no changes were made`.',
    '```\nNo changes were made.\n```\nI replaced that text.',
    'Let me know whether no changes were made.',
    'A dry run: no changes were made.',
    '',
  ])('%j', (answer) => {
    expect([...denialsIn(answer)]).toEqual([]);
  });

  it('is not searched beyond its first 32,768 characters, nor in a sentence without end', () => {
    expect([...denialsIn(`${'word '.repeat(8_000)}. No changes were made.`)]).toEqual([]);
    expect([...denialsIn(`${'word '.repeat(100)} nothing was changed`)]).toEqual([]);
  });

  it('costs time in proportion to its length, whatever it holds', () => {
    const nasty = ['no no no ', 'i did not ', '`', '"', '* ', 'the files '].map((part) => part.repeat(32_768 / part.length));
    const started = performance.now();
    for (const answer of nasty) denialsIn(answer);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
