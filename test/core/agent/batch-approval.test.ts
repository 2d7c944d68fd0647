import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createScriptedApprover } from '../../../adapters/approver/scripted.ts';
import { foldJournal } from '../../../core/transcript/fold.ts';
import type { ApprovalRequest, ApprovalVerdict, Approver } from '../../../ports/approval.ts';
import { defineTool } from '../../../ports/plugin.ts';
import { SessionError, type SessionWriter } from '../../../ports/session.ts';
import { createHarness, type Harness, type HarnessOptions, toolResults } from './harness.ts';

let harness: Harness | undefined;
const start = async (options: HarnessOptions): Promise<Harness> => {
  harness = await createHarness({ tools: [shell, reader], settings: { danger: asking }, ...options });
  return harness;
};
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const asking = { classes: {}, allowlist: [], denylist: [], nonInteractive: 'read_only' } as const;
const ran: string[] = [];

const shell = defineTool<{ command: string }>({
  name: 'sh',
  description: 'Runs a command.',
  parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  effects: ({ command }) => ({ command }),
  execute: async ({ command }) => {
    ran.push(command);
    return `ran ${command}`;
  },
});

const reader = defineTool<{ path: string }>({
  name: 'reader',
  description: 'Reads.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  effects: ({ path }) => ({ reads: [path] }),
  execute: async ({ path }) => `read ${path}`,
});

const sh = (command: string) => ({ name: 'sh', arguments: { command } });
const batchOf = (...commands: string[]) => ({ calls: commands.map(sh) });
const kindsOf = async (run: Harness) =>
  (await run.journal()).map(({ record }) => record.kind).filter((kind) => kind.startsWith('approval') || kind.startsWith('tool'));

afterEach(() => {
  ran.length = 0;
});

describe('one card for the calls of a response', () => {
  it('is shown once, journalled for each call before any starts, and lets all of them run', async () => {
    const approver = createScriptedApprover({ answers: ['approve'] });
    const run = await start({ approver, steps: [batchOf('make a', 'ls', 'make b'), { text: 'ok' }] });
    expect((await run.run()).outcome).toBe('answer');
    expect(approver.requests.map(({ class: cls, items }) => [cls, items.map(({ resource }) => resource)])).toEqual([
      ['tool_batch', ['make a', 'make b']],
    ]);
    expect(ran.toSorted()).toEqual(['ls', 'make a', 'make b']);
    expect((await kindsOf(run)).slice(0, 4)).toEqual(['approval_asked', 'approval_asked', 'approval_answered', 'approval_answered']);
    const records = (await run.journal()).map(({ record }) => record);
    const asked = records.filter((record) => record.kind === 'approval_asked');
    const answered = records.filter((record) => record.kind === 'approval_answered');
    expect(asked.map(({ key, resource }) => [key.split('/').slice(1).join('/'), resource])).toEqual([
      ['1/0', 'make a'],
      ['1/2', 'make b'],
    ]);
    expect(new Set([...asked, ...answered].map(({ approvalId }) => approvalId))).toEqual(new Set([approver.requests[0]?.id]));
    expect(answered.map(({ key }) => key)).toEqual(asked.map(({ key }) => key));
  });

  it('counts for its own iteration alone', async () => {
    const approver = createScriptedApprover({ answers: ['approve', 'deny', 'deny'] });
    const run = await start({
      approver,
      steps: [batchOf('make a', 'make b'), batchOf('make a', 'make b'), { calls: [sh('make a')] }, { text: 'ok' }],
    });
    await run.run();
    expect(approver.requests.map(({ items }) => items.length)).toEqual([2, 2, 1]);
    expect(ran).toHaveLength(2);
  });

  it('that is denied denies every call on it and costs no tool call', async () => {
    const approver = createScriptedApprover({ answers: ['deny'] });
    const run = await start({
      approver,
      settings: { danger: asking, limits: { max_tool_calls: 2 } },
      steps: [batchOf('make a', 'ls', 'make b'), { text: 'ok' }],
    });
    expect((await run.run()).outcome).toBe('answer');
    const results = toolResults(run.requests[1] ?? []);
    expect(results.map((text) => text.includes('error: batch approval denied'))).toEqual([true, false, true]);
    expect(ran).toEqual(['ls']);
    const outcomes = run.events.flatMap((event) => (event.type === 'tool_result' ? [event.outcome] : []));
    expect(outcomes.toSorted()).toEqual(['completed', 'denied', 'denied']);
    expect((await run.journal()).filter(({ record }) => record.kind === 'tool_started')).toHaveLength(1);
  });

  it('does not cover a call whose world an earlier call of the batch changed', async () => {
    const approver = createScriptedApprover({ answers: ['approve', 'deny'] });
    const run = await start({
      approver,
      settings: { danger: asking, maxToolParallel: 1 },
      tools: [
        shell,
        reader,
        defineTool({
          name: 'swap',
          description: 'Puts a link in the place of a folder.',
          parameters: { type: 'object' },
          effects: () => ({ writes: ['sub'], command: 'make swap' }),
          execute: async () => {
            const { rm, symlink } = await import('node:fs/promises');
            await rm(join(run.workspace, 'sub'), { recursive: true });
            await symlink('/etc', join(run.workspace, 'sub'));
            return 'swapped';
          },
        }),
      ],
      steps: [{ calls: [{ name: 'swap' }, { name: 'reader', arguments: { path: 'sub/.env' } }] }, { text: 'ok' }],
    });
    await mkdir(join(run.workspace, 'sub'));
    await run.run();
    expect(approver.requests.map(({ items }) => items.map(({ tool, reason }) => [tool, reason]))).toEqual([
      [
        ['swap', expect.any(String)],
        ['reader', expect.any(String)],
      ],
      [['reader', expect.any(String)]],
    ]);
    expect(approver.requests[1]?.items[0].reason).not.toBe(approver.requests[0]?.items[1]?.reason);
    expect(toolResults(run.requests[1] ?? [])[1]).toContain('operation denied by user: reader sub/.env');
  });

  it('that is open when the run is cancelled ends every call, and the journal is whole', async () => {
    const controller = new AbortController();
    const asked: ApprovalRequest[] = [];
    const approver: Approver = {
      decide: (request, signal) =>
        new Promise<ApprovalVerdict>((_, reject) => {
          asked.push(request);
          signal.addEventListener('abort', () => reject(new Error('gone')));
          setImmediate(() => controller.abort());
        }),
    };
    const run = await start({ approver, steps: [batchOf('make a', 'make b'), { text: 'never' }] });
    expect((await run.run('do it', controller.signal)).outcome).toBe('cancelled');
    expect(asked).toHaveLength(1);
    expect(ran).toEqual([]);
    const outcomes = run.events.flatMap((event) => (event.type === 'tool_result' ? [event.outcome] : []));
    expect(outcomes).toEqual(['cancelled', 'cancelled']);
    expect(foldJournal(await run.journal()).open).toEqual([]);
  });

  it.each([
    ['a card of several calls', ['make a', 'make b']],
    ['a card of one call', ['make a']],
  ])('ends with the run when its time is up: %s', async (_, commands) => {
    let isCancelled = false;
    const approver: Approver = {
      decide: (_request, signal) =>
        new Promise<ApprovalVerdict>((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            isCancelled = true;
            reject(signal.reason);
          }),
        ),
    };
    const settings = { danger: asking, limits: { max_runtime_seconds: 0.1 } };
    const run = await start({ approver, settings, steps: [batchOf(...commands), { text: 'never' }] });
    expect((await run.run()).outcome).toBe('budget');
    expect(isCancelled).toBe(true);
    expect(ran).toEqual([]);
    expect(foldJournal(await run.journal()).open).toEqual([]);
  });

  it.each(['approval_asked', 'approval_answered'] as const)('lets nothing run when its %s cannot be stored', async (kind) => {
    const approver = createScriptedApprover({ answers: ['approve'] });
    const run = await start({ approver, steps: [batchOf('make a', 'make b'), { text: 'never' }] });
    const session = await run.open();
    const broken: SessionWriter = {
      ...session,
      append: async (records) => {
        if (records.some((record) => record.kind === kind)) throw new SessionError('disk_full', 'the disk is full');
        return session.append(records);
      },
    };
    const ended = await run.agent.run({ session: broken, task: 'do it', signal: new AbortController().signal }).then(
      ({ outcome }) => outcome,
      (error: unknown) => error,
    );
    expect(ended === 'failed' || ended instanceof SessionError).toBe(true);
    expect(ran).toEqual([]);
    expect(approver.requests).toHaveLength(kind === 'approval_asked' ? 0 : 1);
  });

  it('tells friction over the cards of a run', async () => {
    const approver = createScriptedApprover({ answers: ['approve', 'approve', 'approve', 'approve'] });
    const run = await start({
      approver,
      steps: (_request, number) => (number <= 4 ? batchOf(`make a${number}`, `make b${number}`) : { text: 'ok' }),
    });
    await run.run();
    expect(approver.requests.map(({ friction }) => friction)).toEqual([false, false, false, true]);
  });
});
