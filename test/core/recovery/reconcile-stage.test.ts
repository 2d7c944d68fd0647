import { afterEach, describe, expect, it } from 'vitest';
import { defineTool, type ToolSpec } from '../../../ports/plugin.ts';
import type { ScriptedStep } from '../../fakes/llm.ts';
import { createHarness, fakeTool, type Harness, type HarnessOptions } from '../agent/harness.ts';

let harness: Harness | undefined;
const start = async (options: HarnessOptions): Promise<Harness> => {
  harness = await createHarness(options);
  return harness;
};
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const writer: ToolSpec = defineTool<{ path: string }>({
  name: 'write_file',
  description: 'Writes.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  effects: ({ path }) => ({ writes: [path] }),
  execute: async ({ path }) => `wrote ${path}`,
});
const shell: ToolSpec = defineTool<{ command: string }>({
  name: 'shell',
  description: 'Runs.',
  parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  effects: ({ command }) => ({ command }),
  execute: async ({ command }) => (command === 'false' ? { content: 'exit status 1', failed: true } : 'ok'),
});
const tools = [writer, shell, fakeTool('look')];
const write = (path: string): ScriptedStep => ({ calls: [{ name: 'write_file', arguments: { path } }] });
const exec = (command: string): ScriptedStep => ({ calls: [{ name: 'shell', arguments: { command } }] });
const mismatches = (run: Harness) => run.events.filter((event) => event.type === 'signal' && event.name === 'reply_ledger_mismatch');

describe('an answer that contradicts what the run did', () => {
  it('is shipped as it is, with a notice that names what was done', async () => {
    const run = await start({ tools, steps: [write('notes.txt'), { text: 'I did not make any changes.' }] });
    const result = await run.run();
    expect(result.answer).toMatch(
      /^I did not make any changes\.\n\n\[odek consistency notice: the answer above denies effects, but these actions completed in this run: write_file "notes\.txt"\.\] \[ref ([0-9a-f]{8})\]$/,
    );
    const ref = /\[ref ([0-9a-f]+)\]/.exec(result.answer)?.[1];
    expect(mismatches(run)).toEqual([
      expect.objectContaining({ detail: `ref ${ref}: the answer denies effects of 1 completed action`, iteration: 2 }),
    ]);
    const stored = (await run.journal()).at(-2)?.record;
    expect(stored).toMatchObject({ kind: 'message', message: { role: 'assistant', content: result.answer } });
  });

  it('is told of at most five actions, each once', async () => {
    const paths = ['a', 'b', 'a', 'c', 'd', 'e', 'f', 'g'];
    const run = await start({ tools, steps: [...paths.map(write), { text: 'No files were changed.' }] });
    const { answer } = await run.run();
    expect(answer).toContain('write_file "a", write_file "b", write_file "c", write_file "d", write_file "e", and 2 more.] [ref ');
  });

  it.each([
    ['a command that ran', [exec('npm test')], 'No commands were executed.'],
    ['a single command that ran', [exec('npm test')], 'The command did not run.'],
    ['anything done', [write('a')], 'Nothing was executed.'],
    ['writes that went through', [write('a')], 'File writes are blocked.'],
  ])('is found for %s', async (_name, steps, text) => {
    const run = await start({ tools, steps: [...steps, { text }] });
    expect((await run.run()).answer).toContain('[odek consistency notice: ');
  });

  it.each([
    ['nothing was done', [{ calls: [{ name: 'look' }] }], 'No changes were made.'],
    ['the write was refused', [{ calls: [{ name: 'write_file', arguments: { path: '/etc/hosts' } }] }], 'No changes were made.'],
    ['a command ran that need not have changed anything', [exec('npm test')], 'No changes were made.'],
    ['one of the commands failed', [exec('npm test'), exec('false')], 'The command did not run.'],
    [
      'something was refused',
      [write('a'), { calls: [{ name: 'write_file', arguments: { path: '/etc/hosts' } }] }],
      'File writes are blocked.',
    ],
    ['it tells what was done', [write('a')], 'I wrote a.'],
  ])('is not seen where %s', async (_name, steps, text) => {
    const run = await start({ tools, steps: [...(steps as ScriptedStep[]), { text }] });
    expect((await run.run()).answer).toBe(text);
    expect(mismatches(run)).toEqual([]);
  });

  it('does not let a name forge or break the notice', async () => {
    const secret = 'sk-abcdefghijklmnop1234567890';
    const command = `echo ${secret} ".]\n[ref 00000000] ${'x'.repeat(500)}`;
    const run = await start({ tools, secrets: [secret], steps: [exec(command), { text: 'Nothing was executed.' }] });
    const notice = (await run.run()).answer.split('\n\n').at(-1) ?? '';
    expect(notice.match(/\[ref /g)).toHaveLength(1);
    expect(notice).not.toContain('\n');
    expect(notice).not.toContain(secret);
    expect(notice.length).toBeLessThan(350);
  });

  it('is judged by its own turn alone', async () => {
    const run = await start({ tools, steps: [write('a'), { text: 'Wrote a.' }, { text: 'No changes were made.' }] });
    await run.run('write');
    expect((await run.run('look')).answer).toBe('No changes were made.');
  });

  it('is still seen after the run was interrupted and taken up again', async () => {
    const stop = new AbortController();
    const interrupt = (): ScriptedStep => {
      stop.abort();
      return { hang: true };
    };
    const steps = [write('a'), interrupt, { text: 'No changes were made.' }];
    const run = await start({ tools, steps });
    expect((await run.run('write', stop.signal)).outcome).toBe('cancelled');
    const session = await run.open();
    const result = await run.agent.run({ session, signal: new AbortController().signal });
    expect(result.answer).toContain('write_file "a"');
  });
});
