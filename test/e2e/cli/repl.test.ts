import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { OpenAiServer } from '../../fakes/openai-server.ts';
import { isAlive, pidIn } from '../support/processes.ts';
import { onStage, PATIENT } from '../support/stage.ts';

const PROMPT = '› ';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';

function said(server: OpenAiServer, at: number): string[] {
  return server.requests[at]?.body.messages.slice(1).map((message: { content: string }) => message.content);
}

describe.concurrent('odek repl on a terminal', PATIENT, () => {
  it('keeps what was said over two turns, and leaves with Ctrl-D', () =>
    onStage(
      ({ number }) => ({ text: `answer ${number}` }),
      async ({ terminal, server, run }) => {
        const seen = await terminal(
          ['repl'],
          [
            { wait: PROMPT },
            { send: 'first\r' },
            { wait: 'answer 1' },
            { wait: PROMPT },
            { send: 'second\r' },
            { wait: 'answer 2' },
            { wait: PROMPT },
            { send: CTRL_D },
          ],
        );
        expect(seen.exit).toBe(0);
        expect(said(server, 1)).toEqual(['first', 'answer 1', 'second']);
        expect((await run(['session', 'list'])).stdout).toContain('first');
        expect(await run(['continue', 'third'])).toMatchObject({ code: 0, stdout: 'answer 3\n' });
      },
    ));

  it('cancels the turn at Ctrl-C, asks again, and goes on with a well-formed request', () =>
    onStage(
      ({ number }) =>
        number === 1 ? { calls: [{ name: 'shell', arguments: { command: 'echo $$ > child; sleep 60' } }] } : { text: `answer ${number}` },
      async ({ terminal, server, work }) => {
        const seen = await terminal(
          ['repl'],
          [
            { wait: PROMPT },
            { send: 'wait\r' },
            { wait: 'sleep 60' },
            { pause: 1 },
            { send: CTRL_C },
            { wait: PROMPT },
            { send: 'go on\r' },
            { wait: 'answer 2' },
            { wait: PROMPT },
            { send: '/exit\r' },
          ],
        );
        expect(seen.exit).toBe(0);
        expect(isAlive(await pidIn(join(work, 'child')))).toBe(false);
        const messages = said(server, 1);
        expect(messages[0]).toBe('wait');
        expect(messages.at(-2)).toContain('was cancelled while it was running');
        expect(messages.at(-1)).toBe('go on');
      },
      { config: { dangerous: { action: 'allow' }, sandbox: false } },
    ));

  it('asks for approval within a turn and takes the prompt back afterwards', () =>
    onStage(
      ({ number }) =>
        number === 1 ? { calls: [{ name: 'shell', arguments: { command: 'sh -c "touch it"' } }] } : { text: `answer ${number}` },
      async ({ terminal, work, server }) => {
        const seen = await terminal(
          ['repl'],
          [
            { wait: PROMPT },
            { send: 'do it\r' },
            { wait: '[d]eny, [?] more: ' },
            { send: 'a\r' },
            { wait: 'answer 2' },
            { wait: PROMPT },
            { send: 'again\r' },
            { wait: 'answer 3' },
            { wait: PROMPT },
            { send: CTRL_D },
          ],
        );
        expect(seen.exit).toBe(0);
        expect(await readdir(work)).toEqual(['it']);
        expect(said(server, 2).at(-1)).toBe('again');
      },
    ));

  it('keeps trust over the turns of a session', () =>
    onStage(
      ({ number }) =>
        number % 2 === 1
          ? { calls: [{ name: 'shell', arguments: { command: `sh -c "touch it-${number}"` } }] }
          : { text: `answer ${number}` },
      async ({ terminal, work }) => {
        const seen = await terminal(
          ['repl'],
          [
            { wait: PROMPT },
            { send: 'one\r' },
            { wait: '[d]eny, [?] more: ' },
            { send: 't\r' },
            { wait: 'answer 2' },
            { wait: PROMPT },
            { send: 'two\r' },
            { wait: 'answer 4' },
            { wait: PROMPT },
            { send: CTRL_D },
          ],
        );
        expect(seen.exit).toBe(0);
        expect((await readdir(work)).sort()).toEqual(['it-1', 'it-3']);
      },
    ));

  it('keeps a redacted history that the owner alone can read', () =>
    onStage([{ text: 'answer 1' }], async ({ terminal, state }) => {
      const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
      const seen = await terminal(
        ['repl'],
        [{ wait: PROMPT }, { send: `use ${token}\r` }, { wait: 'answer 1' }, { wait: PROMPT }, { send: CTRL_D }],
      );
      expect(seen.exit).toBe(0);
      const file = join(state, 'repl_history');
      const history = await readFile(file, 'utf8');
      expect(history).toMatch(/^use /);
      expect(history).not.toContain(token);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }));

  it('tells a turn that failed and asks again', () =>
    onStage([{ status: 401, error: { message: 'no such key' } }, { text: 'answer 2' }], async ({ terminal }) => {
      const seen = await terminal(
        ['repl'],
        [
          { wait: PROMPT },
          { send: 'one\r' },
          { wait: 'no such key' },
          { wait: PROMPT },
          { send: 'two\r' },
          { wait: 'answer 2' },
          { wait: PROMPT },
          { send: CTRL_D },
        ],
      );
      expect(seen.exit).toBe(0);
    }));

  it('leaves nothing behind when nothing was said', () =>
    onStage([], async ({ terminal, run }) => {
      expect((await terminal(['repl'], [{ wait: PROMPT }, { send: CTRL_D }])).exit).toBe(0);
      expect((await run(['session', 'list'])).stdout).toContain('No sessions yet');
    }));
});

describe.concurrent('odek repl from a pipe', PATIENT, () => {
  it('takes a turn a line and answers each on stdout alone', () =>
    onStage(
      ({ number }) => ({ text: `answer ${number}` }),
      async ({ run, server }) => {
        const { code, stdout, stderr } = await run(['repl'], { input: 'first\n/info\nsecond \\\nhalf\n' });
        expect({ code, stdout }).toEqual({ code: 0, stdout: 'answer 1\nanswer 2\n' });
        expect(stderr).toContain('folder');
        expect(stderr).not.toContain('\u001b');
        expect(said(server, 1)).toEqual(['first', 'answer 1', 'second \nhalf']);
      },
    ));

  it('ends with SIGTERM and SIGHUP, and the command of its turn with it', () =>
    onStage(
      () => ({ calls: [{ name: 'shell', arguments: { command: 'echo $$ > child; sleep 60' } }] }),
      async ({ start, work, run }) => {
        for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
          const running = start(['repl'], { input: 'wait\nnever asked\n' });
          const child = await pidIn(join(work, 'child'));
          running.child.kill(signal);
          expect((await running.ended).code).toBe(130);
          expect(isAlive(child)).toBe(false);
          await rm(join(work, 'child'));
        }
        expect((await run(['session', 'list'])).stdout.match(/wait/g)).toHaveLength(2);
      },
      { config: { dangerous: { action: 'allow' }, sandbox: false } },
    ));

  it('tells what a sink of events lost, though no turn is shown any more', () =>
    onStage(
      [{ text: 'answer 1' }],
      async ({ run, state }) => {
        const source =
          "export default { port: 'event-sink', name: 'mine', create: () => ({ accept: async () => { throw 'no' }, close: async () => {} }) };";
        await writeFile(join(state, 'mine.mjs'), source);
        const { code, stderr } = await run(['repl'], { input: 'hello\n' });
        expect(code).toBe(0);
        expect(stderr).toMatch(/"mine" missed \d+ events/);
      },
      { config: { adapters: ['./mine.mjs'], sinks: { mine: {} } } },
    ));

  it('goes on with a session by its id', () =>
    onStage(
      ({ number }) => ({ text: `answer ${number}` }),
      async ({ run, server }) => {
        const id = JSON.parse((await run(['run', '--session', '--json', 'first'])).stdout).session_id;
        expect(await run(['repl', '--id', id], { input: 'second\n' })).toMatchObject({ code: 0, stdout: 'answer 2\n' });
        expect(said(server, 1)).toEqual(['first', 'answer 1', 'second']);
        expect((await run(['repl', '--id', 'nope'], { input: 'x\n' })).code).toBe(3);
      },
    ));
});
