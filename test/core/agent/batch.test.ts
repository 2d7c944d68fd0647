import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { foldJournal } from '../../../core/transcript/fold.ts';
import { defineTool, type ToolSpec } from '../../../ports/plugin.ts';
import { createHarness, fakeTool, type Harness, type HarnessOptions, toolResults } from './harness.ts';

let harness: Harness | undefined;
const start = async (options: HarnessOptions): Promise<Harness> => {
  harness = await createHarness(options);
  return harness;
};
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

/** What a call is told, for a batch of calls in one response. */
async function batch(
  options: HarnessOptions,
  calls: readonly { id?: string; name: string; arguments?: string | object }[],
): Promise<string[]> {
  const run = await start({ ...options, steps: [{ calls }, { text: 'done' }] });
  const result = await run.run();
  expect(result.answer).toBe('done');
  return toolResults(run.requests[1] ?? []);
}

function timed(name: string, log: string[], effects: ToolSpec['effects'], ms = 20): ToolSpec {
  return defineTool<{ id: string }>({
    name,
    description: name,
    parameters: { type: 'object' },
    ...(effects && { effects }),
    execute: async ({ id }) => {
      log.push(`+${id}`);
      await delay(ms);
      log.push(`-${id}`);
      return id;
    },
  });
}

describe('a batch of tool calls', () => {
  it('keeps results in call order, whatever ends first', async () => {
    const slow = fakeTool('wait', async (input) => {
      await delay(Number(input.n));
      return String(input.n);
    });
    const results = await batch({ tools: [slow] }, [
      { name: 'wait', arguments: { n: 40 } },
      { name: 'wait', arguments: { n: 1 } },
    ]);
    expect(results.map((text) => /source="wait">\n(\d+)/.exec(text)?.[1])).toEqual(['40', '1']);
  });

  it('runs at most max_tool_parallel calls at a time, and really in parallel', async () => {
    let now = 0;
    let most = 0;
    const tool = fakeTool('busy', async () => {
      now += 1;
      most = Math.max(most, now);
      await delay(15);
      now -= 1;
      return 'ok';
    });
    await batch(
      { tools: [tool], settings: { maxToolParallel: 3 } },
      Array.from({ length: 9 }, () => ({ name: 'busy' })),
    );
    expect(most).toBe(3);
  });

  it('takes a command as a barrier to both sides', async () => {
    const log: string[] = [];
    const tools = [timed('free', log, () => ({})), timed('sh', log, () => ({ command: 'true' }))];
    await batch({ tools }, [
      { name: 'free', arguments: { id: 'a' } },
      { name: 'sh', arguments: { id: 'b' } },
      { name: 'free', arguments: { id: 'c' } },
    ]);
    expect(log).toEqual(['+a', '-a', '+b', '-b', '+c', '-c']);
  });

  it('takes what changes another host as a barrier, and lets calls that only read from hosts overlap', async () => {
    const log: string[] = [];
    const hosts = ['example.org'];
    const tools = [timed('get', log, () => ({ hosts })), timed('post', log, () => ({ hosts, uploads: true }))];
    await batch({ tools }, [
      { name: 'get', arguments: { id: 'a' } },
      { name: 'get', arguments: { id: 'b' } },
      { name: 'post', arguments: { id: 'c' } },
      { name: 'get', arguments: { id: 'd' } },
    ]);
    expect(log.slice(0, 2)).toEqual(['+a', '+b']);
    expect(log.slice(4)).toEqual(['+c', '-c', '+d', '-d']);
  });

  it('orders a write and what touches the same path, and lets other paths overlap', async () => {
    const log: string[] = [];
    const tools = [
      timed('w', log, ({ path }: { path: string }) => ({ writes: [path] })),
      timed('r', log, ({ path }: { path: string }) => ({ reads: [path] })),
    ];
    await batch({ tools }, [
      { name: 'w', arguments: { id: 'w1', path: 'dir/a.txt' } },
      { name: 'r', arguments: { id: 'r1', path: './dir/../dir/a.txt' } },
      { name: 'r', arguments: { id: 'r2', path: 'other.txt' } },
    ]);
    expect(log.indexOf('-w1')).toBeLessThan(log.indexOf('+r1'));
    expect(log.indexOf('+r2')).toBeLessThan(log.indexOf('-w1'));
  });

  it('tells the model the names it may use when it asks for an unknown tool', async () => {
    const [text] = await batch({ tools: [fakeTool('echo')] }, [{ name: 'ecko' }]);
    expect(text).toContain('error: tool "ecko" not found. Available tools: echo');
  });

  it('names the path and the correction for arguments that do not fit the schema', async () => {
    const [text] = await batch({ tools: [fakeTool('echo')] }, [{ name: 'echo', arguments: { n: 'seven' } }]);
    expect(text).toMatch(/error: invalid arguments for tool "echo":\n- \/n: .*number/);
  });

  it.each([
    ['{"n": 1', 'not valid JSON'],
    ['null', '(arguments)'],
    ['5', '(arguments)'],
    ['[]', '(arguments)'],
    ['{}{}', 'not valid JSON'],
    ['{"n": 1,}', 'not valid JSON'],
  ])('refuses the arguments %s to the model', async (raw, told) => {
    const [text] = await batch({ tools: [fakeTool('echo')] }, [{ name: 'echo', arguments: raw }]);
    expect(text).toContain('error: invalid arguments');
    expect(text).toContain(told);
  });

  it.each(['', '   '])('takes blank arguments %j as none', async (raw) => {
    const [text] = await batch({ tools: [fakeTool('echo')] }, [{ name: 'echo', arguments: raw }]);
    expect(text).toContain('{}');
  });

  it('turns a thrown error into a result and a failed outcome', async () => {
    const run = await start({
      tools: [fakeTool('bad', () => Promise.reject(new Error('no luck')))],
      steps: [{ calls: [{ id: 'c', name: 'bad' }] }, { text: 'done' }],
    });
    await run.run();
    expect(toolResults(run.requests[1] ?? [])[0]).toContain('error: no luck');
    expect(run.wire()).toContainEqual(
      expect.objectContaining({ type: 'tool_call_failed', data: expect.objectContaining({ call_id: 'c', error_class: 'tool_error' }) }),
    );
  });

  it('says panicked for what is not a tool error, also when it is thrown at once', async () => {
    const tool = {
      ...fakeTool('bad'),
      execute: () => {
        throw new TypeError('x is undefined');
      },
    };
    const [text] = await batch({ tools: [tool] }, [{ name: 'bad' }]);
    expect(text).toContain('error: tool "bad" panicked: x is undefined');
  });

  it('stops a tool that hangs past its time limit, even one that ignores its signal', async () => {
    const hanging = { ...fakeTool('hang', () => new Promise<string>(() => {})), timeoutMs: 20 };
    const polite = {
      ...fakeTool('polite', async (_input, signal) => {
        await delay(60_000, undefined, { signal });
        return 'never';
      }),
      timeoutMs: 20,
    };
    const run = await start({
      tools: [hanging, polite],
      steps: [
        {
          calls: [
            { id: 'h', name: 'hang' },
            { id: 'p', name: 'polite' },
          ],
        },
        { text: 'done' },
      ],
    });
    await run.run();
    const results = toolResults(run.requests[1] ?? []);
    expect(results[0]).toContain('error: tool "hang" ran past its time limit of 0 s');
    expect(results[1]).toContain('error: tool "polite" ran past its time limit');
    const failed = run.wire().filter((event) => event.type === 'tool_call_failed');
    expect(failed.map((event) => event.data.error_class)).toEqual(['deadline_exceeded', 'deadline_exceeded']);
  }, 20_000);

  it('compresses 50 MB of output to 4 KiB with head and tail', async () => {
    const big = fakeTool('big', () => `HEAD${'x'.repeat(50 * 1024 * 1024)}TAIL`);
    const [text] = await batch({ tools: [big] }, [{ name: 'big' }]);
    expect(text?.length).toBeLessThan(5000);
    expect(text).toContain('HEAD');
    expect(text).toContain('TAIL');
    expect(text).toContain(`output was ${50 * 1024 * 1024 + 8} bytes total`);
  });

  it('bounds a tool with a limit of its own by that limit alone', async () => {
    const tool = { ...fakeTool('wide', () => 'y'.repeat(20_000)), maxResultChars: 10_000 };
    const [text] = await batch({ tools: [tool] }, [{ name: 'wide' }]);
    expect(text).toContain('y'.repeat(10_000));
    expect(text).not.toContain('y'.repeat(10_001));
  });

  it('runs what is left of the tool-call budget, refuses the rest, reports, and ends with the budget outcome', async () => {
    const run = await start({
      tools: [fakeTool('echo')],
      settings: { limits: { max_tool_calls: 2 } },
      steps: (request) =>
        request.tools.length > 0 ? { calls: [{ name: 'echo' }, { name: 'echo' }, { name: 'echo' }] } : { text: 'Two of three.' },
    });
    const result = await run.run();
    expect(result).toMatchObject({
      outcome: 'budget',
      answer: '[Execution budget reached — partial summary]\n\nTwo of three.',
      error: { code: 'budget_exceeded' },
    });
    const outcomes = foldJournal(await run.journal()).entries.flatMap(({ message }) => (message.role === 'tool' ? [message.outcome] : []));
    expect(outcomes).toEqual(['completed', 'completed', 'skipped_budget']);
    const types = run.wire().map((event) => event.type);
    expect(types.slice(-2)).toEqual(['budget_exceeded', 'run_failed']);
    expect(run.wire().find((event) => event.type === 'budget_exceeded')?.data).toMatchObject({ limit_name: 'tool_calls', limit: 2 });
  });

  it('refuses more than 128 calls of one response', async () => {
    const results = await batch(
      { tools: [fakeTool('echo')] },
      Array.from({ length: 130 }, (_, index) => ({ id: `c${index}`, name: 'echo' })),
    );
    expect(results).toHaveLength(130);
    expect(results[129]).toContain('more than 128 tool calls');
  });

  it('ends the run when the journal cannot be written, and starts no further call', async () => {
    const started: string[] = [];
    const run = await start({
      tools: [timed('sh', started, () => ({ command: 'x' }), 1)],
      steps: [
        {
          calls: [
            { name: 'sh', arguments: { id: 'a' } },
            { name: 'sh', arguments: { id: 'b' } },
          ],
        },
      ],
    });
    const session = await run.open();
    const broken = {
      ...session,
      append: (records: Parameters<typeof session.append>[0]) =>
        records.some((record) => record.kind === 'tool_finished') ? Promise.reject(new Error('disk full')) : session.append(records),
    };
    const result = await run.agent.run({ session: broken, task: 'go', signal: new AbortController().signal });
    expect(result).toMatchObject({ outcome: 'failed', error: { message: 'disk full' } });
    expect(started).toEqual(['+a', '-a']);
  });
});
