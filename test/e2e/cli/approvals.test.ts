import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DISPLAY_LIMIT } from '../../../core/approvals/display.ts';
import type { OpenAiServer, ServerReply } from '../../fakes/openai-server.ts';
import { onStage, PATIENT } from '../support/stage.ts';

const shell = (command: string): ServerReply => ({ calls: [{ name: 'shell', arguments: { command } }] });
const call = (name: string, input: object): ServerReply => ({ calls: [{ name, arguments: input }] });
const DONE: ServerReply = { text: 'It is done.' };

/** What the model read of its last calls. */
function lastResults(server: OpenAiServer): string[] {
  const messages: { role: string; content: string }[] = server.requests.at(-1)?.body.messages ?? [];
  return messages.filter((message) => message.role === 'tool').map((message) => message.content);
}

const QUESTION = '[d]eny, [?] more: ';

describe.concurrent('a person at the terminal', PATIENT, () => {
  it('is asked for a command, sees the whole of it, and approves it once', () =>
    onStage([shell('sh -c "echo one > one.txt"'), shell('sh -c "echo two > two.txt"'), DONE], async ({ terminal, work, server }) => {
      const seen = await terminal(['run', 'write'], [{ wait: QUESTION }, { send: 'a\r' }, { wait: QUESTION }, { send: 'approve\r' }]);
      expect(seen.exit).toBe(0);
      expect(seen.raw).toContain('echo one > one.txt');
      expect(seen.raw).toContain('echo two > two.txt');
      expect((await readdir(work)).sort()).toEqual(['one.txt', 'two.txt']);
      expect(lastResults(server)).toHaveLength(2);
    }));

  it('has not approved with what was typed before the question, a line that was only begun included', () =>
    onStage([{ ...shell('sh -c "touch one"'), delayMs: 1500 }, shell('sh -c "touch two"'), DONE], async ({ terminal, work }) => {
      const steps = [{ send: 'a\rapprove\r\ra' }, { wait: QUESTION }, { send: 'd\r' }, { wait: QUESTION }, { send: 'd\r' }];
      const seen = await terminal(['run', 'write'], steps);
      expect(seen.exit).toBe(0);
      expect(await readdir(work)).toEqual([]);
    }));

  it('denies, and the model reads that a user did', () =>
    onStage([shell('sh -c "touch it"'), DONE], async ({ terminal, work, server }) => {
      const seen = await terminal(['run', 'write'], [{ wait: QUESTION }, { send: 'd\r' }]);
      expect(seen.exit).toBe(0);
      expect(await readdir(work)).toEqual([]);
      expect(lastResults(server)[0]).toContain(
        'error: operation denied by user: shell sh -c "touch it" (code_execution): sh runs commands',
      );
    }));

  it('trusts a class for the session and is not asked again', () =>
    onStage([shell('sh -c "touch one"'), shell('sh -c "touch two"'), shell('sh -c "touch three"'), DONE], async ({ terminal, work }) => {
      const seen = await terminal(['run', 'write'], [{ wait: QUESTION }, { send: 't\r' }]);
      expect(seen.exit).toBe(0);
      expect((await readdir(work)).sort()).toEqual(['one', 'three', 'two']);
      expect(seen.raw.split(QUESTION)).toHaveLength(2);
    }));

  it('is asked before a file outside is read, and not before one inside is written', () =>
    onStage(
      [
        call('write_file', { path: 'inside.txt', content: 'x' }),
        call('read_file', { path: '../outside.txt' }),
        call('read_file', { path: '../outside.txt' }),
        DONE,
      ],
      async ({ terminal, work, server }) => {
        await writeFile(join(work, '..', 'outside.txt'), 'what is outside');
        const seen = await terminal(['run', 'read'], [{ wait: QUESTION }, { send: 'd\r' }, { wait: QUESTION }, { send: 'a\r' }]);
        expect(seen.exit).toBe(0);
        expect(await readFile(join(work, 'inside.txt'), 'utf8')).toBe('x');
        const results = lastResults(server);
        expect(results[1]).toContain('denied by user');
        expect(results[2]).toContain('what is outside');
      },
    ));

  const pair = (...commands: string[]): ServerReply => ({ calls: commands.map((command) => ({ name: 'shell', arguments: { command } })) });

  it('is asked once about the calls of one response, and again with the next response', () =>
    onStage(
      [pair('sh -c "touch one"', 'sh -c "touch two"'), pair('sh -c "touch three"', 'sh -c "touch four"'), DONE],
      async ({ terminal, work, server }) => {
        const seen = await terminal(['run', 'write'], [{ wait: QUESTION }, { send: 'a\r' }, { wait: QUESTION }, { send: 'd\r' }]);
        expect(seen.exit).toBe(0);
        expect(seen.raw).toContain('⚠️ 2 tool actions require approval:');
        expect(seen.raw).toContain('  2. `shell` — `sh -c "touch four"`');
        expect(seen.raw.split(QUESTION)).toHaveLength(3);
        expect((await readdir(work)).sort()).toEqual(['one', 'two']);
        const results = lastResults(server);
        expect(results.slice(2).map((text) => text.includes('error: batch approval denied'))).toEqual([true, true]);
      },
    ));

  it('can end the run with Ctrl-C while a card of several calls is open', () =>
    onStage([pair('sh -c "touch one"', 'sh -c "touch two"')], async ({ terminal, work }) => {
      const seen = await terminal(['run', 'write'], [{ wait: QUESTION }, { send: '\u0003' }]);
      expect(seen.exit).toBe(130);
      expect(await readdir(work)).toEqual([]);
    }));

  it('has to type the whole word after three approvals of a class within a minute', () =>
    onStage(
      [...['one', 'two', 'three', 'four', 'five'].map((name) => shell(`sh -c "touch ${name}"`)), DONE],
      async ({ terminal, work }) => {
        const yes = [{ wait: QUESTION }, { send: 'a\r' }];
        const seen = await terminal(
          ['run', 'write'],
          [...yes, ...yes, ...yes, { wait: QUESTION }, { send: 'a\r' }, { wait: QUESTION }, { send: 'approve\r' }],
        );
        expect(seen.exit).toBe(0);
        expect(seen.raw.match(/type "approve"/g)).toHaveLength(2);
        expect((await readdir(work)).sort()).toEqual(['five', 'one', 'three', 'two']);
      },
    ));

  it('who does not answer in time has denied, and the model reads that', () =>
    onStage(
      [shell('sh -c "touch it"'), DONE],
      async ({ terminal, work, server }) => {
        const seen = await terminal(['run', 'write'], [{ wait: QUESTION }, { wait: 'no answer in time: denied' }]);
        expect(seen.exit).toBe(0);
        expect(lastResults(server)[0]).toContain('error: approval timeout: shell sh -c "touch it" (code_execution): ');
        expect(await readdir(work)).toEqual([]);
      },
      { config: { dangerous: { approval_timeout_seconds: 1 } } },
    ));

  it('sees head and tail of a very long command, and its lines indented', () => {
    const command = `sh -c "echo begin\necho ${'x'.repeat(6000)}\necho the end"`;
    return onStage([shell(command), DONE], async ({ terminal }) => {
      const seen = await terminal(['run', 'write'], [{ wait: QUESTION }, { send: 'd\r' }]);
      const shown = seen.raw.replaceAll('\r\n', '\n');
      expect(shown).toContain('  Run:  sh -c "echo begin\n    echo xxx');
      expect(shown).toContain(`xxx…[${command.length - DISPLAY_LIMIT} more bytes]xxx`);
      expect(shown).toContain('xxx\n    echo the end"\n  Why:');
    });
  });

  it('can end the run with Ctrl-C while a question is open', () =>
    onStage([shell('sh -c "touch it"')], async ({ terminal, work }) => {
      const seen = await terminal(['run', 'write'], [{ wait: QUESTION }, { send: '\u0003' }]);
      expect(seen.exit).toBe(130);
      expect(await readdir(work)).toEqual([]);
    }));

  it('is asked even when the streams are pipes, and the answer alone is on stdout', () =>
    onStage([shell('sh -c "touch it"'), DONE], async ({ terminal, work }) => {
      const seen = await terminal(['run', 'write'], [{ wait: QUESTION }, { send: 'a\r' }], {
        shell: '"$@" </dev/null >out.txt 2>err.txt',
      });
      expect(seen.exit).toBe(0);
      expect(await readFile(join(work, 'out.txt'), 'utf8')).toBe('It is done.\n');
      expect(await readFile(join(work, 'err.txt'), 'utf8')).not.toContain('\u001b');
      expect(await readdir(work)).toContain('it');
    }));

  it('cannot be shown a harmless line in place of what runs', () =>
    onStage(
      [shell('touch evil #\r\u001b[2K\u001b[1Aecho harmless\u202e'), DONE],
      async ({ terminal }) => {
        const seen = await terminal(['run', 'write'], [{ wait: QUESTION }, { send: 'd\r' }]);
        expect(seen.screen.text()).toContain('touch evil');
        expect(seen.screen.foreign()).toEqual([]);
        expect(seen.raw).not.toContain('\u202e');
      },
      // A line with control characters is of class unknown, and denied unless the operator wants to be asked.
      { config: { dangerous: { classes: { unknown: 'prompt' } } } },
    ));
});

describe.concurrent('nobody to ask', PATIENT, () => {
  const all: ServerReply = {
    calls: [
      { name: 'shell', arguments: { command: 'touch by-shell' } },
      { name: 'write_file', arguments: { path: 'by-write', content: '' } },
      { name: 'read_file', arguments: { path: 'notes.txt' } },
      { name: 'read_file', arguments: { path: '/etc/hostname' } },
      { name: 'read_file', arguments: { path: '.env' } },
    ],
  };

  it('leaves reads inside the working directory alone', () =>
    onStage([all, DONE], async ({ run, work, file, server }) => {
      await file('notes.txt', 'the notes');
      await file('.env', 'not a secret');
      expect((await run(['run', 'try'])).code).toBe(0);
      const results = lastResults(server);
      expect(results.map((text) => text.includes('operation denied (non-interactive mode)'))).toEqual([true, true, false, true, true]);
      expect((await readdir(work)).sort()).toEqual(['.env', 'notes.txt']);
    }));

  it('means yes where the operator says so, and no where the operator says that', () =>
    onStage([all, DONE, all, DONE], async ({ run, work, file, server, configure }) => {
      await file('notes.txt', 'the notes');
      await file('.env', 'x');
      const base = { provider: 'fixture', model: 'm', providers: { fixture: { format: 'openai', base_url: server.url } } };
      await configure({ ...base, dangerous: { non_interactive: 'deny' } });
      await run(['run', 'try']);
      expect(lastResults(server).filter((text) => text.includes('operation denied'))).toHaveLength(4);
      await configure({ ...base, dangerous: { non_interactive: 'allow' } });
      await run(['run', 'try']);
      expect(lastResults(server).filter((text) => text.includes('operation denied'))).toEqual([]);
      expect((await readdir(work)).sort()).toEqual(['.env', 'by-shell', 'by-write', 'notes.txt']);
    }));

  it('is not changed by a project, which is told so', () =>
    onStage([all, DONE], async ({ run, work, file, server }) => {
      await file('notes.txt', 'the notes');
      await file('odek.json', JSON.stringify({ dangerous: { non_interactive: 'allow', action: 'allow', allowlist: ['touch by-shell'] } }));
      const { stderr } = await run(['run', 'try']);
      expect(stderr).toContain('dangerous is ignored');
      expect(lastResults(server).filter((text) => text.includes('operation denied'))).toHaveLength(4);
      expect((await readdir(work)).sort()).toEqual(['notes.txt', 'odek.json']);
    }));

  it("honours the operator's lists and classes", () =>
    onStage(
      [{ calls: ['touch yes', 'touch no', 'rm -rf /'].map((command) => ({ name: 'shell', arguments: { command } })) }, DONE],
      async ({ run, work, server }) => {
        await run(['run', 'try']);
        expect(lastResults(server).map((text) => /operation denied[^:]*/.exec(text)?.[0])).toEqual([
          undefined,
          'operation denied (non-interactive mode)',
          'operation denied by configuration',
        ]);
        expect(await readdir(work)).toEqual(['yes']);
      },
      { config: { dangerous: { allowlist: ['touch yes'] } } },
    ));
});

describe.concurrent('what no setting allows', PATIENT, () => {
  const ALLOW = { config: { dangerous: { action: 'allow', non_interactive: 'allow' } } };

  it('is a write outside the working directory, through a link, to a device or into the state of odek', () =>
    onStage(
      [
        {
          calls: [
            '../outside.txt',
            'link-out/file.txt',
            'link-file',
            'link-inside',
            '/dev/null',
            '../state/config.json',
            'link-state/secrets.env',
          ].map((path) => ({ name: 'write_file', arguments: { path, content: 'overwritten' } })),
        },
        DONE,
      ],
      async ({ run, work, state, server, file }) => {
        const outside = join(work, '..', 'outside');
        await mkdir(outside);
        await writeFile(join(outside, 'target.txt'), 'untouched');
        await file('inside.txt', 'untouched');
        await symlink(outside, join(work, 'link-out'));
        await symlink(join(outside, 'target.txt'), join(work, 'link-file'));
        await symlink('inside.txt', join(work, 'link-inside'));
        await symlink(state, join(work, 'link-state'));
        const before = await readFile(join(state, 'config.json'), 'utf8');
        await run(['run', 'try']);
        const results = lastResults(server);
        expect(results).toHaveLength(7);
        for (const text of results) expect(text).toContain('error: operation denied by configuration');
        expect(await readFile(join(outside, 'target.txt'), 'utf8')).toBe('untouched');
        expect(await readFile(join(work, 'inside.txt'), 'utf8')).toBe('untouched');
        expect(await readFile(join(state, 'config.json'), 'utf8')).toBe(before);
        expect(await readdir(outside)).toEqual(['target.txt']);
        expect(await readdir(join(work, '..'))).not.toContain('outside.txt');
      },
      ALLOW,
    ));

  it('is a read of the state of odek or of a device', () =>
    onStage(
      [
        {
          calls: ['../state/config.json', 'link-state/config.json', '/dev/zero'].map((path) => ({
            name: 'read_file',
            arguments: { path },
          })),
        },
        DONE,
      ],
      async ({ run, work, state, server }) => {
        await symlink(state, join(work, 'link-state'));
        await run(['run', 'try']);
        for (const text of lastResults(server)) expect(text).toContain('error: operation denied by configuration');
      },
      ALLOW,
    ));
});
