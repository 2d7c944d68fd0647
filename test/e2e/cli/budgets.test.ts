import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServerReply } from '../../fakes/openai-server.ts';
import { readEvents, typesOf } from '../support/events.ts';
import { onStage, PATIENT, type Stage } from '../support/stage.ts';

const LOOK = { name: 'glob', arguments: { pattern: '*' } };
const PRICES = { input_cost_per_million_usd: 1, output_cost_per_million_usd: 1 };

/** Runs until a budget stops it, and checks what holds for each of them. */
async function stopped({ run, work, server }: Stage, flags: readonly string[], limit: string, limitValue: number) {
  const file = join(work, 'events.jsonl');
  const { code, stdout, stderr } = await run(['run', 'look around', '--json', '--events-jsonl', file, ...flags]);
  expect(code).toBe(4);
  const result = JSON.parse(stdout);
  expect(result.outcome).toBe('budget');
  expect(result.error.code).toBe('budget_exceeded');
  expect(result.error.message).toContain(limit);
  const events = await readEvents(file);
  expect(typesOf(events).slice(-2)).toEqual(['budget_exceeded', 'run_failed']);
  expect(events.at(-2)?.data).toMatchObject({ limit_name: limit, limit: limitValue });
  const continued = await run(['continue', '--id', result.session_id, 'and now?']);
  expect(continued).toMatchObject({ code: 0, stdout: 'continued\n' });
  return { result, stderr, events, server };
}

function until(
  count: number,
  reply: ServerReply,
): (request: { readonly number: number; readonly body: { tools?: unknown } }) => ServerReply {
  return ({ number }) => (number <= count ? reply : { text: 'continued', usage: { prompt_tokens: 1, completion_tokens: 1 } });
}

describe.concurrent('a run that used up a budget exits 4, keeps its session and can be continued', PATIENT, () => {
  it('time', () =>
    onStage(until(1, { hang: true }), async (stage) => {
      await stopped(stage, ['--max-runtime', '1'], 'runtime', 1);
    }));

  it('time, while a command runs', () =>
    onStage(
      until(1, { calls: [{ name: 'shell', arguments: { command: 'sleep 60' } }] }),
      async (stage) => {
        const { events } = await stopped(stage, ['--max-runtime', '2'], 'runtime', 2);
        expect(typesOf(events)).toContain('tool_call_failed');
      },
      { config: { dangerous: { action: 'allow' } } },
    ));

  it('tool calls, with the ones that fit executed and a report of what was done', () =>
    onStage(
      ({ number }) => {
        if (number === 1) return { calls: [LOOK, LOOK, LOOK] };
        return { text: number === 2 ? 'I looked twice.' : 'continued' };
      },
      async (stage) => {
        const { result, events } = await stopped(stage, ['--max-tool-calls', '2'], 'tool_calls', 2);
        expect(result.answer).toBe('[Execution budget reached — partial summary]\n\nI looked twice.');
        expect(typesOf(events).filter((type) => type === 'tool_call_completed')).toHaveLength(2);
        expect(typesOf(events).filter((type) => type === 'tool_call_failed')).toHaveLength(1);
      },
    ));

  it('input tokens', () =>
    onStage(until(1, { calls: [LOOK], usage: { prompt_tokens: 50_000, completion_tokens: 1 } }), async (stage) => {
      const { result } = await stopped(stage, ['--max-input-tokens', '40000'], 'input_tokens', 40_000);
      expect(result.usage.input).toBe(50_000);
    }));

  it('output tokens, which the request asks no more of than is left', () =>
    onStage(until(1, { calls: [LOOK], usage: { prompt_tokens: 10, completion_tokens: 500 } }), async (stage) => {
      const { server } = await stopped(stage, ['--max-output-tokens', '400'], 'output_tokens', 400);
      expect(server.requests[0]?.body.max_tokens).toBe(400);
    }));

  it('cost', () =>
    onStage(
      until(1, { calls: [LOOK], usage: { prompt_tokens: 90_000, completion_tokens: 20_000 } }),
      async (stage) => {
        const { result } = await stopped(stage, ['--max-cost-usd', '0.1'], 'cost_usd', 0.1);
        expect(result.cost_usd).toBe(0.11);
      },
      { config: PRICES },
    ));

  it('cost without prices is no limit, and says so', () =>
    onStage(
      () => ({ text: 'done' }),
      async ({ run }) => {
        const unpriced = await run(['run', '--max-cost-usd', '0.1', 'look']);
        expect(unpriced.code).toBe(0);
        expect(unpriced.stderr).toContain('limits.max_cost_usd (0.1) is not enforced: the two prices of model "scripted" are not known');
        expect((await run(['run', '--max-cost-usd', '0', 'look'])).stderr).not.toContain('not enforced');
        expect((await run(['run', 'look'])).stderr).not.toContain('not enforced');
      },
      { config: { input_cost_per_million_usd: 1 } },
    ));

  it('usage that the service does not report is estimated and marked, never free', () =>
    onStage(until(1, { text: 'x'.repeat(4000), usage: null }), async (stage) => {
      const { result } = await stopped(stage, ['--max-output-tokens', '300'], 'output_tokens', 300);
      expect(result.usage.estimated).toBe(true);
      expect(result.usage.output).toBeGreaterThan(1000);
      expect(result.answer).toBe('x'.repeat(4000));
    }));
});

describe.concurrent('limits of the configuration', PATIENT, () => {
  it('hold in odek continue as they do in odek run', () =>
    onStage(
      ({ number }) => (number === 1 ? { text: 'first' } : { calls: [LOOK, LOOK] }),
      async ({ run }) => {
        await run(['run', '--session', 'one']);
        const { code, stderr } = await run(['continue', 'two']);
        expect(code).toBe(4);
        expect(stderr).toContain('limit: tool calls, used 2 of 1');
      },
      { config: { limits: { max_tool_calls: 1 } } },
    ));

  it('can be lowered by a project and not raised', () =>
    onStage(
      () => ({ calls: [LOOK, LOOK, LOOK, LOOK] }),
      async ({ run, file }) => {
        await file('odek.json', JSON.stringify({ limits: { max_tool_calls: 2 } }));
        const lowered = JSON.parse((await run(['run', 'look', '--json'])).stdout);
        expect(lowered.error.message).toContain('limit is 2');
        await file('odek.json', JSON.stringify({ limits: { max_tool_calls: 99 } }));
        const raised = JSON.parse((await run(['run', 'look', '--json'])).stdout);
        expect(raised.error.message).toContain('limit is 3');
      },
      { config: { limits: { max_tool_calls: 3 } } },
    ));

  it('are told to the model at 50, 75 and 90 percent', () =>
    onStage(
      ({ number }) => (number < 10 ? { calls: [{ name: 'glob', arguments: { pattern: '*{{n}}' } }] } : { text: 'done' }),
      async ({ run, server }) => {
        await run(['run', 'look', '--max-iter', '10']);
        const hints = server.requests
          .at(-1)
          ?.body.messages.filter((message: { content?: string }) => message.content?.startsWith('[budget: '));
        expect(hints.map((hint: { role: string; content: string }) => `${hint.role} ${hint.content.slice(0, 37)}`)).toEqual([
          'system [budget: 50% used (5/10 iterations) —',
          'system [budget: 75% used (8/10 iterations) —',
          'system [budget: 90% used (9/10 iterations) —',
        ]);
      },
    ));

  it('are not told with --no-announce-budget, nor with announce_budget: false', () =>
    onStage(
      ({ body }) => (body.messages.length < 8 ? { calls: [LOOK] } : { text: 'done' }),
      async ({ run, server }) => {
        const told = () => server.requests.some(({ text }) => text.includes('[budget: '));
        await run(['run', 'look', '--max-iter', '5', '--no-announce-budget']);
        await run(['run', 'look', '--max-iter', '5'], { env: { ODEK_ANNOUNCE_BUDGET: 'false' } });
        expect(server.count).toBeGreaterThan(4);
        expect(told()).toBe(false);
        await run(['run', 'look', '--max-iter', '5']);
        expect(told()).toBe(true);
      },
    ));
});
