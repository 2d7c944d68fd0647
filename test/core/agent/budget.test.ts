import { afterEach, describe, expect, it } from 'vitest';
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

const spending = { input: 1000, output: 500, estimated: false };

describe('a budget', () => {
  it.each([
    ['input_tokens', { max_input_tokens: 2500 }],
    ['output_tokens', { max_output_tokens: 1200 }],
    ['cost_usd', { max_cost_usd: 0.02 }],
  ] as const)('of %s stops the run, names limit and value, and tells budget_exceeded before run_failed', async (name, limits) => {
    const run = await start({
      tools: [fakeTool('echo')],
      settings: { limits, prices: { input_cost_per_million_usd: 5, output_cost_per_million_usd: 10 }, maxIterations: 50 },
      steps: () => ({ calls: [{ name: 'echo' }], usage: spending }),
    });
    const result = await run.run();
    expect(result).toMatchObject({ outcome: 'budget', error: { code: 'budget_exceeded' } });
    const [exceeded, failed] = run.wire().slice(-2);
    expect(exceeded).toMatchObject({ type: 'budget_exceeded', data: { limit_name: name } });
    expect(failed?.type).toBe('run_failed');
  });

  it('keeps an answer that was paid for beyond the limit', async () => {
    const run = await start({ settings: { limits: { max_output_tokens: 100 } }, steps: [{ text: 'long answer', usage: spending }] });
    expect(await run.run()).toMatchObject({ outcome: 'budget', answer: 'long answer' });
  });

  it('counts a reply that broke off after it had begun', async () => {
    const { ProviderError } = await import('../../../ports/llm.ts');
    const run = await start({ steps: [{ text: 'x'.repeat(400), error: new ProviderError('stream_incomplete', 'cut') }] });
    const result = await run.run();
    expect(result).toMatchObject({ outcome: 'failed', usage: { estimated: true } });
    expect(result.usage.output).toBe(100);
    const booked = (await run.journal()).flatMap(({ record }) => (record.kind === 'usage' ? [record] : []));
    expect(booked).toMatchObject([{ purpose: 'main', model: 'test-model', usage: result.usage }]);
  });

  it('lowers max_tokens to what is left', async () => {
    const asked: (number | undefined)[] = [];
    const run = await start({
      settings: { limits: { max_output_tokens: 300 }, maxTokens: 1000 },
      steps: (request) => {
        asked.push(request.maxTokens);
        return { text: 'ok' };
      },
    });
    await run.run();
    expect(asked).toEqual([300]);
  });

  it('starts anew with each run of a session', async () => {
    const run = await start({
      settings: { limits: { max_tool_calls: 1 } },
      tools: [fakeTool('echo')],
      steps: (_r, n) => (n % 2 === 1 ? { calls: [{ name: 'echo' }] } : { text: 'ok' }),
    });
    expect((await run.run()).outcome).toBe('answer');
    expect((await run.run()).outcome).toBe('answer');
  });

  it('reports cost in dollars when prices are known', async () => {
    const run = await start({
      settings: { prices: { input_cost_per_million_usd: 5, output_cost_per_million_usd: 10 } },
      steps: [{ text: 'ok', usage: spending }],
    });
    expect((await run.run()).cost_usd).toBeCloseTo(0.01, 6);
  });
});
