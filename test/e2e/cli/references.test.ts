import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OPERATOR_KEY, onStage, PATIENT, type Stage } from '../support/stage.ts';

function userText({ server }: Stage, at = 0): string {
  return server.requests[at]?.body.messages.findLast(({ role }: { role: string }) => role === 'user').content;
}

const DONE = { text: 'done' };

describe.concurrent('a task that names files', PATIENT, () => {
  it('is told to the model with their content, redacted and wrapped, and listed as it was written', () =>
    onStage([DONE], async (stage) => {
      await writeFile(join(stage.work, 'a.md'), `first line ${OPERATOR_KEY}\n`);
      expect((await stage.run(['run', '--session', 'Explain', '@a.md', 'to me@home'])).code).toBe(0);
      const text = userText(stage);
      expect(text).toMatch(
        /^Explain \n\n--- @a\.md ---\n<untrusted_content_([0-9a-f]{16}) source="resource:@a\.md">\nfirst line \[REDACTED\]\n/,
      );
      expect(text).toContain('</untrusted_content_');
      expect(text).toMatch(/--- end @a\.md ---\n to me@home$/);
      const { stdout } = await stage.run(['session', 'list', '--json']);
      expect(JSON.parse(stdout).sessions[0].title).toBe('Explain @a.md to me@home');
    }));

  it('goes without those that may not be read, and the user is told why', () =>
    onStage([DONE], async (stage) => {
      await writeFile(join(stage.work, '.env'), 'KEY=canary-in-env-file');
      await symlink('/etc/passwd', join(stage.work, 'out'));
      const { code, stderr } = await stage.run(['run', 'Read @.env and @out and @missing']);
      expect(code).toBe(0);
      expect(userText(stage)).toBe('Read @.env and @out and @missing');
      expect(stderr).toContain('@.env is left as it is: it is a credential file');
      expect(stderr).toContain('@out is left as it is: it is outside the working directory');
      expect(stderr).not.toContain('@missing');
    }));

  it('goes on from an earlier session by its id', () =>
    onStage([{ text: 'forty-two' }, DONE], async (stage) => {
      await stage.run(['run', '--session', 'What is the answer?']);
      const { stdout } = await stage.run(['session', 'list', '--json']);
      const { id } = JSON.parse(stdout).sessions[0];
      await stage.run(['run', `Explain @sess:${id}`]);
      expect(userText(stage, 1)).toContain(`source="resource:@sess:${id}">\nuser: What is the answer?\n\nassistant: forty-two\n`);
    }));
});

describe.concurrent('--ctx', PATIENT, () => {
  it('puts files before the task, in a run and when it goes on', () =>
    onStage([DONE, DONE], async (stage) => {
      await mkdir(join(stage.work, 'src'));
      await writeFile(join(stage.work, 'a.md'), 'A');
      await writeFile(join(stage.work, 'src/b.ts'), 'B');
      await stage.run(['run', '--session', '--ctx', 'a.md,src/b.ts', 'Compare']);
      expect(userText(stage)).toMatch(
        /^--- a\.md ---\n<[\s\S]*source="ctx:a\.md">\nA\n[\s\S]*--- end a\.md ---\n\n--- src\/b\.ts ---\n[\s\S]*\nCompare$/,
      );
      await stage.run(['continue', '--ctx', 'a.md', 'Again']);
      expect(userText(stage, 1)).toMatch(/^--- a\.md ---\n[\s\S]*\nAgain$/);
    }));

  it('of a file that is not there ends with 3 before anything is asked, and leaves no session', () =>
    onStage([], async (stage) => {
      const { code, stderr } = await stage.run(['run', '--session', '--ctx', 'missing.md', 'Compare']);
      expect(code).toBe(3);
      expect(stderr).toContain('--ctx missing.md: there is no such file');
      expect(stage.server.requests).toHaveLength(0);
      expect(JSON.parse((await stage.run(['session', 'list', '--json'])).stdout).sessions).toEqual([]);
    }));
});

describe.concurrent('a turn of the repl', PATIENT, () => {
  it('can name a file', () =>
    onStage([DONE], async (stage) => {
      await writeFile(join(stage.work, 'a.md'), 'content of a');
      const steps = [{ wait: '› ' }, { send: 'Look at @a.md\r' }, { wait: 'done' }, { wait: '› ' }, { send: '\u0004' }];
      expect((await stage.terminal(['repl'], steps)).exit).toBe(0);
      expect(userText(stage)).toContain('source="resource:@a.md">\ncontent of a\n');
    }));
});
