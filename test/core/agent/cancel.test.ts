import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { foldJournal } from '../../../core/transcript/fold.ts';
import type { Approver } from '../../../ports/approval.ts';
import { createHarness, fakeTool, type Harness, type HarnessOptions } from './harness.ts';

let harness: Harness | undefined;
const start = async (options: HarnessOptions): Promise<Harness> => {
  harness = await createHarness(options);
  return harness;
};
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const cancelSoon = (): AbortSignal => {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 30);
  return controller.signal;
};

describe('cancelling', () => {
  it('before the first request ends the run at once', async () => {
    const run = await start({ steps: [{ text: 'never' }] });
    const result = await run.run('go', AbortSignal.abort());
    expect(result.outcome).toBe('cancelled');
    expect(run.requests).toHaveLength(0);
    expect(run.wire().at(-1)).toMatchObject({ type: 'run_failed', data: { error_class: 'context_canceled' } });
  });

  it('while the model is silent ends the run', async () => {
    const run = await start({ steps: [{ hang: true }] });
    expect((await run.run('go', cancelSoon())).outcome).toBe('cancelled');
  });

  it('while tools run gives every call of the batch exactly one result', async () => {
    const tool = fakeTool('slow', async (input, signal) => {
      await delay(Number(input.n), undefined, { signal });
      return 'ok';
    });
    const run = await start({
      tools: [tool],
      settings: { maxToolParallel: 2 },
      steps: [{ calls: [1, 60_000, 60_000, 60_000].map((n, index) => ({ id: `c${index}`, name: 'slow', arguments: { n } })) }],
    });
    expect((await run.run('go', cancelSoon())).outcome).toBe('cancelled');
    const folded = foldJournal(await run.journal());
    expect(folded.open).toEqual([]);
    const results = folded.entries.flatMap(({ message }) => (message.role === 'tool' ? [[message.callId, message.outcome]] : []));
    expect(results).toEqual([
      ['c0', 'completed'],
      ['c1', 'cancelled'],
      ['c2', 'cancelled'],
      ['c3', 'cancelled'],
    ]);
  });

  it('while a person is asked withdraws the question', async () => {
    const cancel = new AbortController();
    const approver: Approver = {
      decide: (_request, signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          cancel.abort();
        }),
    };
    const run = await start({
      approver,
      tools: [{ ...fakeTool('sh'), effects: () => ({ command: 'make' }) }],
      settings: { danger: { classes: {}, allowlist: [], denylist: [], nonInteractive: 'read_only' } },
      steps: [{ calls: [{ name: 'sh' }] }],
    });
    expect((await run.run('go', cancel.signal)).outcome).toBe('cancelled');
    expect(foldJournal(await run.journal()).open).toEqual([]);
    expect((await run.journal()).map(({ record }) => record.kind)).toContain('approval_asked');
  });

  it('leaves a session that goes on', async () => {
    const run = await start({ steps: (_request, number) => (number === 1 ? { hang: true } : { text: 'back' }) });
    await run.run('go', cancelSoon());
    expect((await run.run('again')).answer).toBe('back');
  });

  it('by the runtime limit is a budget stop and not a cancellation', async () => {
    const run = await start({ settings: { limits: { max_runtime_seconds: 0.05 } }, steps: [{ hang: true }] });
    const result = await run.run();
    expect(result).toMatchObject({ outcome: 'budget', error: { code: 'budget_exceeded' } });
    const types = run.wire().map((event) => event.type);
    expect(types.slice(-2)).toEqual(['budget_exceeded', 'run_failed']);
    expect(run.wire().at(-2)?.data).toMatchObject({ limit_name: 'runtime' });
  });

  it('by the runtime limit stops tools that are running', async () => {
    const tool = fakeTool('slow', async (_input, signal) => {
      await delay(60_000, undefined, { signal });
      return 'ok';
    });
    const run = await start({ tools: [tool], settings: { limits: { max_runtime_seconds: 0.1 } }, steps: [{ calls: [{ name: 'slow' }] }] });
    expect(await run.run()).toMatchObject({ outcome: 'budget' });
    expect(foldJournal(await run.journal()).open).toEqual([]);
  });
});
