import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { ApprovalRequest, Approver } from '../../../ports/approval.ts';
import { defineTool } from '../../../ports/plugin.ts';
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

const SECRET = 'canary-4f9a1b77c2d8e6';
const asking = { classes: {}, allowlist: [], denylist: [], nonInteractive: 'read_only' } as const;

const shell = defineTool<{ command: string }>({
  name: 'sh',
  description: 'Runs a command.',
  parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  effects: ({ command }) => ({ command }),
  execute: async ({ command }) => `ran ${command}`,
});

const readFile = defineTool<{ path: string }>({
  name: 'read_file',
  description: 'Gives lines.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  effects: ({ path }) => ({ reads: [path] }),
  execute: async () => JSON.stringify({ content: '1|print(0)', total_lines: 1 }),
});

function answering(decision: 'approve' | 'deny' | 'trust', asked: ApprovalRequest[] = []): Approver {
  return {
    decide: async (request) => {
      asked.push(request);
      return { decision, by: 'test' };
    },
  };
}

describe('approvals in a run', () => {
  it('show no secret of a command, not even one that the shortened middle of a card would cut in two', async () => {
    const asked: ApprovalRequest[] = [];
    const commands = Array.from({ length: SECRET.length }, (_, at) => `echo ${'x'.repeat(2995 - at)}${SECRET}${'y'.repeat(3000)}`);
    const run = await start({
      approver: answering('deny', asked),
      secrets: [SECRET],
      tools: [shell],
      settings: { danger: { ...asking, classes: { safe: 'prompt', local_write: 'prompt' } }, maxIterations: commands.length + 2 },
      steps: [...commands.map((command) => ({ calls: [{ name: 'sh', arguments: { command } }] })), { text: 'ok' }] as never,
    });
    await run.run();
    expect(asked.length).toBe(commands.length);
    for (const text of [JSON.stringify(asked), JSON.stringify(run.events), JSON.stringify(run.requests)]) {
      expect(text).not.toMatch(/canary-4f|b77c2d8e6/);
    }
  });

  it('ask before a command, and journal question and answer before it starts', async () => {
    const run = await start({
      approver: answering('approve'),
      tools: [shell],
      settings: { danger: asking },
      steps: [{ calls: [{ name: 'sh', arguments: { command: 'make' } }] }, { text: 'ok' }],
    });
    await run.run();
    const kinds = (await run.journal()).map(({ record }) => record.kind);
    const order = ['message', 'approval_asked', 'approval_answered', 'tool_started', 'tool_finished'];
    expect(kinds.filter((kind) => order.includes(kind) && kind !== 'message')).toEqual(order.slice(1));
    expect(run.types()).toEqual(expect.arrayContaining(['approval_asked', 'approval_answered']));
  });

  it('that are denied give the outcome denied, cost no tool call, and do not run', async () => {
    const run = await start({
      approver: answering('deny'),
      tools: [shell],
      settings: { danger: asking, limits: { max_tool_calls: 1 } },
      steps: (_request, number) => (number <= 2 ? { calls: [{ name: 'sh', arguments: { command: 'make' } }] } : { text: 'ok' }),
    });
    expect((await run.run()).outcome).toBe('answer');
    expect(toolResults(run.requests[1] ?? [])[0]).toContain('error: operation denied by user: ');
    expect((await run.journal()).some(({ record }) => record.kind === 'tool_started')).toBe(false);
  });

  it.each([
    ['once', 1, ['code_execution', 'unread_exec'], 'ran python3 x.py'],
    [
      'with every question',
      9,
      ['code_execution', 'unread_exec', 'unread_exec'],
      'operation denied: what the call would do changed 3 times',
    ],
  ])('do not count for a script that is swapped while the card is read: %s', async (_, swaps, classes, told) => {
    const asked: ApprovalRequest[] = [];
    const script = (): string => join(run.workspace, 'x.py');
    const approver: Approver = {
      decide: async (request) => {
        asked.push(request);
        if (asked.length <= swaps) await writeFile(script(), `print(1)\n${'pass\n'.repeat(asked.length)}`);
        return { decision: 'approve', by: 'test' };
      },
    };
    const run = await start({
      approver,
      tools: [shell, readFile],
      settings: { danger: asking },
      steps: [
        { calls: [{ name: 'read_file', arguments: { path: 'x.py' } }] },
        { calls: [{ name: 'sh', arguments: { command: 'python3 x.py' } }] },
        { text: 'ok' },
      ],
    });
    await writeFile(script(), 'print(0)\n');
    await run.run();
    expect(asked.map(({ class: cls }) => cls)).toEqual(classes);
    expect(toolResults(run.requests[2] ?? []).at(-1)).toContain(told);
  });

  it('without a person deny a command and say so', async () => {
    const run = await start({
      tools: [shell],
      settings: { danger: asking },
      steps: [{ calls: [{ name: 'sh', arguments: { command: 'make' } }] }, { text: 'ok' }],
    });
    await run.run();
    expect(toolResults(run.requests[1] ?? [])[0]).toContain('error: operation denied (non-interactive mode): ');
  });

  it('remember trust over the turns of a session', async () => {
    const asked: ApprovalRequest[] = [];
    const run = await start({
      approver: answering('trust', asked),
      tools: [shell],
      settings: { danger: asking },
      steps: (_r, n) => (n % 2 === 1 ? { calls: [{ name: 'sh', arguments: { command: 'make' } }] } : { text: 'ok' }),
    });
    await run.run();
    await run.run();
    expect(asked).toHaveLength(1);
  });
});

describe('secrets', () => {
  it('from task, arguments, results, errors and answers reach neither journal, events nor requests', async () => {
    const run = await start({
      secrets: [SECRET],
      tools: [fakeTool('leak', () => `token: ${SECRET}`), fakeTool('boom', () => Promise.reject(new Error(`failed with ${SECRET}`)))],
      steps: [
        { text: `I saw ${SECRET}`, reasoning: `hmm ${SECRET}`, calls: [{ name: 'leak', arguments: { path: SECRET } }, { name: 'boom' }] },
        { text: `It is ${SECRET}` },
      ],
    });
    const result = await run.run(`use ${SECRET}`);
    const stored = JSON.stringify(await run.journal());
    const told = JSON.stringify(run.wire());
    const asked = JSON.stringify(run.requests);
    const live = JSON.stringify(run.events.filter((event) => event.type !== 'text_delta' && event.type !== 'reasoning_delta'));
    for (const text of [stored, told, asked, live, JSON.stringify(result)]) {
      expect(text).not.toContain(SECRET);
    }
    expect(stored).toContain('[REDACTED]');
  });

  it('are hidden from storage while the tool still gets what the model wrote', async () => {
    let got: unknown;
    const run = await start({
      secrets: [SECRET],
      tools: [
        fakeTool('use', (input) => {
          got = input.path;
          return 'ok';
        }),
      ],
      steps: [{ calls: [{ name: 'use', arguments: { path: SECRET } }] }, { text: 'ok' }],
    });
    await run.run();
    expect(got).toBe(SECRET);
  });
});
