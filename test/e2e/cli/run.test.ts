import { describe, expect, it } from 'vitest';
import { onStage, PATIENT } from '../support/stage.ts';

const FIELDS = ['answer', 'outcome', 'session_id', 'run_id', 'iterations', 'usage', 'cost_usd', 'duration_ms'];
const ESCAPE = '\u001b';

describe.concurrent('odek run on pipes', PATIENT, () => {
  it('writes the answer and one newline to stdout, and everything else to stderr without escapes', () =>
    onStage(
      [
        { reasoning: 'I think', text: 'Let me look.', calls: [{ name: 'read_file', arguments: { path: 'notes.txt' } }] },
        { reasoning: 'and think', text: ['The notes ', 'say **hello**.\n\n\n'] },
      ],
      async ({ run, file }) => {
        await file('notes.txt', 'hello\n');
        const { code, stdout, stderr } = await run(['run', 'what do the notes say?']);
        expect(stdout).toBe('The notes say **hello**.\n');
        expect(code).toBe(0);
        expect(stderr).toContain('read_file notes.txt');
        expect(stderr).toContain('Let me look.');
        expect(stderr).not.toContain(ESCAPE);
      },
    ));

  it('prints one JSON object with exactly the documented fields', () =>
    onStage([{ text: 'four' }], async ({ run }) => {
      const { code, stdout } = await run(['run', '2+2?', '--json']);
      expect(code).toBe(0);
      expect(stdout.endsWith('}\n')).toBe(true);
      const result = JSON.parse(stdout);
      expect(Object.keys(result)).toEqual(FIELDS);
      expect(result).toMatchObject({ answer: 'four', outcome: 'answer', iterations: 1, cost_usd: null });
      expect(result.usage).toEqual({ input: 100, output: 10, estimated: false });
      expect(result.session_id).toMatch(/^\d{8}-[0-9a-f]{32}$/);
      expect(result.run_id).toMatch(/^[0-9a-f]{32}$/);
    }));

  it('counts the cost with the prices of the operator', () =>
    onStage(
      [{ text: 'four', usage: { prompt_tokens: 1000, completion_tokens: 100 } }],
      async ({ run }) => expect(JSON.parse((await run(['run', '2+2?', '--json'])).stdout).cost_usd).toBe(0.0012),
      { config: { model_prices: { scripted: { input_cost_per_million_usd: 1, output_cost_per_million_usd: 2 } } } },
    ));

  it('adds the error and exits 1 when the model service refuses the key', () =>
    onStage([{ status: 401, error: { message: 'bad key' } }], async ({ run, server }) => {
      const { code, stdout } = await run(['run', 'hello', '--json']);
      expect(code).toBe(1);
      const result = JSON.parse(stdout);
      expect(Object.keys(result)).toEqual([...FIELDS, 'error']);
      expect(result).toMatchObject({ outcome: 'failed', answer: '' });
      expect(server.count).toBe(1);
    }));

  it('tries a failing service again, then exits 1 with the reason on stderr and nothing on stdout', () =>
    onStage([{ status: 500, error: { message: 'on fire' }, headers: { 'retry-after': '0' }, times: 20 }], async ({ run, server }) => {
      const { code, stdout, stderr } = await run(['run', 'hello']);
      expect(code).toBe(1);
      expect(stdout).toBe('');
      expect(stderr).toContain('on fire');
      expect(server.count).toBe(8);
    }));

  it('takes what a service says after a failure', () =>
    onStage([{ status: 503, error: { message: 'busy' }, headers: { 'retry-after': '0' } }, { text: 'here' }], async ({ run }) =>
      expect(await run(['run', 'hello'])).toMatchObject({ code: 0, stdout: 'here\n' }),
    ));

  it('exits 0 with a report when the iterations are used up', () =>
    onStage([{ calls: [{ name: 'glob', arguments: { pattern: '*' } }], times: 2 }, { text: 'I looked twice.' }], async ({ run }) => {
      const { code, stdout } = await run(['run', 'look', '--max-iter', '2']);
      expect(code).toBe(0);
      expect(stdout).toBe('[Iteration budget reached — partial summary]\n\nI looked twice.\n');
    }));

  it('takes a stream that breaks off for a failure, not for an answer', () =>
    onStage([{ text: ['half ', 'an ', 'answer'], cutAfter: 3, times: 20 }], async ({ run }) => {
      const { code, stdout } = await run(['run', 'hello', '--json']);
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({ outcome: 'failed', answer: '' });
    }));
});

describe.concurrent('the task of odek run', PATIENT, () => {
  const taskOf = (args: readonly string[], input?: string) =>
    new Promise<string>((resolve, reject) => {
      onStage([{ text: 'ok' }], async ({ run, server }) => {
        const ended = await run(args, input === undefined ? {} : { input });
        expect(ended).toMatchObject({ code: 0, stdout: 'ok\n' });
        resolve(server.requests[0]?.body.messages.at(-1).content);
      }).catch(reject);
    });

  it('is read from standard input where there are no words', async () => {
    expect(await taskOf(['run'], 'do it\nwell\n')).toBe('do it\nwell');
  });

  it('is read from standard input for a lone dash', async () => {
    expect(await taskOf(['run', '-'], 'do it')).toBe('do it');
  });

  it('is taken from the words even when standard input has something', async () => {
    expect(await taskOf(['run', 'the', 'words'], 'not this')).toBe('the words');
  });

  it('may begin with a dash behind --', async () => {
    expect(await taskOf(['run', '--', '--session is a flag'])).toBe('--session is a flag');
  });

  it('may be followed by flags', async () => {
    expect(await taskOf(['run', 'say hi', '--no-color', '--max-iter=3'])).toBe('say hi');
  });

  it('is missed with exit code 3 when nothing gives one', () =>
    onStage([], async ({ run, server }) => {
      const { code, stderr } = await run(['run']);
      expect(code).toBe(3);
      expect(stderr).toContain('no task');
      expect(server.count).toBe(0);
    }));
});

describe.concurrent('a setup that is wrong', PATIENT, () => {
  it('exits 3 and names the ways when there is no provider', () =>
    onStage(
      [],
      async ({ run }) => {
        const { code, stdout, stderr } = await run(['run', 'hello']);
        expect(code).toBe(3);
        expect(stdout).toBe('');
        expect(stderr).toMatch(/--base-url/);
      },
      { configured: false },
    ));

  it('exits 3 and names the nearest flag', () =>
    onStage([], async ({ run }) => {
      const { code, stderr } = await run(['run', 'hello', '--sesion']);
      expect(code).toBe(3);
      expect(stderr).toContain('--sesion');
      expect(stderr).toContain('--session');
    }));

  it('exits 3 for a value outside its range, in a flag and in the configuration', () =>
    onStage(
      [],
      async ({ run, server }) => {
        const flag = await run(['run', 'hello', '--max-iter', 'many']);
        expect(flag.code).toBe(3);
        expect(flag.stderr).toContain('many');
        const config = await run(['run', 'hello']);
        expect(config.code).toBe(3);
        expect(config.stderr).toContain('max_tool_parallel');
        expect(server.count).toBe(0);
      },
      { config: { max_tool_parallel: 'four' } },
    ));

  it('exits 3 when the folder of the event file is missing, and makes no session', () =>
    onStage([], async ({ run, server }) => {
      const { code, stderr } = await run(['run', 'hello', '--events-jsonl', 'no/such/folder/events.jsonl']);
      expect(code).toBe(3);
      expect(stderr).toContain('no/such/folder');
      expect(server.count).toBe(0);
    }));
});
