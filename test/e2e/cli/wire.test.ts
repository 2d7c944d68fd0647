import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServerReply, ServerRequest } from '../../fakes/openai-server.ts';
import { pidIn } from '../support/processes.ts';
import { onStage, PATIENT } from '../support/stage.ts';
import { messageBytes } from '../support/well-formed.ts';

const ALLOW = { config: { dangerous: { action: 'allow' } } };
const MAX_FIRST_REQUEST = 12 * 1024;

/** Each request repeats the one before it byte for byte, and adds to it unless it is another try. */
function expectGrowing(requests: readonly ServerRequest[]): void {
  requests.slice(1).forEach((request, index) => {
    const before = messageBytes(requests[index] as ServerRequest);
    const after = messageBytes(request);
    expect(after === before || after.startsWith(`${before},`), `request ${request.number} repeats request ${index + 1}`).toBe(true);
  });
}

const TOOLS = ['file_info', 'glob', 'patch', 'read_file', 'search_files', 'shell', 'write_file'];

describe.concurrent('what odek sends', PATIENT, () => {
  it('is at most 12 kB at first, with the seven tools in order', () =>
    onStage([{ text: 'hi' }], async ({ run, server }) => {
      await run(['run', 'hello', ...TOOLS.flatMap((name) => ['--tool', name])]);
      const [request] = server.requests;
      expect(request?.body.tools.map((tool: { function: { name: string } }) => tool.function.name)).toEqual(TOOLS);
      expect(request?.size).toBeLessThanOrEqual(MAX_FIRST_REQUEST);
      expect(request?.headers.authorization).toMatch(/^Bearer /);
    }));

  it('repeats itself byte for byte over tools, failures, unknown tools, hints, denials and a second turn', () =>
    onStage(
      ({ number }): ServerReply => REPLIES[number - 1] ?? { text: `answer ${number}` },
      async ({ run, file, server }) => {
        await file('notes.txt', 'ünïcödé "quoted" \\ 😀\n'.repeat(200));
        expect(await run(['run', '--session', 'work', '--max-iter', '9'])).toMatchObject({ code: 0 });
        expect(await run(['continue', 'more'])).toMatchObject({ code: 0 });
        expect(server.count).toBe(REPLIES.length + 1);
        expectGrowing(server.requests);
        const tools = new Set(server.requests.map(({ body }) => JSON.stringify(body.tools)));
        expect(tools.size).toBe(1);
      },
    ));

  it('stays well formed when the model repeats its call ids and leaves them out', () =>
    onStage(
      ({ number }): ServerReply =>
        number < 4
          ? {
              calls: [
                { id: 'same', name: 'glob', arguments: { pattern: '*' } },
                { id: '', name: 'glob', arguments: { pattern: '*' } },
              ],
            }
          : { text: 'done' },
      async ({ run, server }) => {
        expect(await run(['run', 'look'])).toMatchObject({ code: 0, stdout: 'done\n' });
        expect(server.count).toBe(4);
        expectGrowing(server.requests);
      },
    ));

  it('leaves an empty reply out of what it sends later', () =>
    onStage([{ text: '' }, { text: 'here' }], async ({ run, server }) => {
      const { code, stderr } = await run(['run', '--session', 'hello']);
      expect(code).toBe(1);
      expect(stderr).toContain('neither text nor a tool call');
      expect(await run(['continue'])).toMatchObject({ code: 0, stdout: 'here\n' });
      expect(server.requests[1]?.body.messages).toEqual(server.requests[0]?.body.messages);
    }));

  it('stays well formed after a kill in a batch, a cancelled batch and a trim', () =>
    onStage(
      ({ number }): ServerReply =>
        number === 1 || number === 3
          ? {
              text: 'a batch',
              calls: [
                { name: 'glob', arguments: { pattern: '*' } },
                { name: 'shell', arguments: { command: `echo $$ > child-${number}; sleep 60` } },
                { name: 'glob', arguments: { pattern: '*' } },
              ],
            }
          : { text: `answer ${number}` },
      async ({ start, run, server, work }) => {
        const killed = start(['run', '--session', 'one']);
        const child = await pidIn(join(work, 'child-1'));
        killed.child.kill('SIGKILL');
        await killed.ended;
        process.kill(-child, 'SIGKILL');
        expect(await run(['continue'])).toMatchObject({ code: 0, stdout: 'answer 2\n' });
        const outcomes = server.requests[1]?.body.messages.slice(-3).map((message: { content: string }) => message.content);
        expect(outcomes[0]).toContain('[]');
        expect(outcomes[1]).toContain('outcome unknown');
        expect(outcomes[2]).toContain('not executed');

        const cancelled = start(['continue', 'two']);
        await pidIn(join(work, 'child-3'));
        cancelled.child.kill('SIGINT');
        expect((await cancelled.ended).code).toBe(130);
        expect(await run(['continue', 'three'])).toMatchObject({ code: 0, stdout: 'answer 4\n' });
        expectGrowing(server.requests);

        const id = /session (\d{8}-[0-9a-f]{32})/.exec(killed.stderr)?.[1] ?? '';
        for (const keep of ['6', '4', '3', '2']) {
          expect((await run(['session', 'trim', id, keep])).code).toBe(0);
          expect((await run(['continue', `after the trim to ${keep}`])).code).toBe(0);
        }
      },
      { config: { ...ALLOW.config, sandbox: false } },
    ));
});

const REPLIES: readonly ServerReply[] = [
  {
    text: 'first',
    reasoning: 'thinking',
    calls: [
      { name: 'read_file', arguments: { path: 'notes.txt' } },
      { name: 'glob', arguments: { pattern: '*' } },
    ],
  },
  {
    calls: [
      { name: 'no such tool.', arguments: {} },
      { name: 'read_file', arguments: '{"path":' },
      { name: 'read_file', arguments: { path: 7 } },
    ],
  },
  {
    calls: [
      { name: 'shell', arguments: { command: 'true' } },
      { name: 'read_file', arguments: { path: 'missing.txt' } },
    ],
  },
  { calls: [{ name: 'search_files', arguments: { pattern: 'quoted' } }] },
  {
    calls: [
      { name: 'read_file', arguments: '[]' },
      { name: 'glob', arguments: '' },
      { name: '', arguments: {} },
    ],
  },
  { text: 'The first turn is done.' },
];
