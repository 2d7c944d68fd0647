import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createBudget } from '../../../core/budget/budget.ts';
import type { BudgetLimits, Prices } from '../../../ports/budget.ts';
import { createManualClock } from '../../fakes/clock.ts';

const PRICES: Prices = { input_cost_per_million_usd: 2, output_cost_per_million_usd: 10 };

function setUp(limits: BudgetLimits, prices: Prices = {}, model = 'm') {
  const clock = createManualClock();
  return { clock, budget: createBudget({ limits, prices, clock, model }) };
}

function usage(input: number, output: number) {
  return { input, output, estimated: false };
}

function exceeded(limitName: string, observed: number, limit: number) {
  return expect.objectContaining({ code: 'budget_exceeded', limitName, observed, limit });
}

describe('the runtime limit', () => {
  it('names the limit, the observed seconds and the maximum', async () => {
    const { clock, budget } = setUp({ max_runtime_seconds: 60 });
    await clock.advance(59_999);
    budget.checkRuntime();
    expect(budget.remainingMs()).toBe(1);
    await clock.advance(1501);
    expect(budget.remainingMs()).toBe(0);
    expect(() => budget.checkRuntime()).toThrow(exceeded('runtime', 61.5, 60));
    expect(() => budget.reserveModelCall({ inputTokens: 1, maxOutputTokens: 1 })).toThrow(exceeded('runtime', 61.5, 60));
    expect(budget.exceeded()).toEqual(exceeded('runtime', 61.5, 60));
  });

  it('counts from the given start', async () => {
    const clock = createManualClock();
    await clock.advance(5000);
    const budget = createBudget({ limits: { max_runtime_seconds: 6 }, prices: {}, clock, model: 'm', startedAt: 0 });
    expect(budget.remainingMs()).toBe(1000);
  });
});

describe('a share of what is left', () => {
  it('is all that a call takes which asks for no more', () => {
    const { budget } = setUp({ max_output_tokens: 100 });
    expect(budget.reserveModelCall({ inputTokens: 1, maxOutputTokens: 4096, share: 0.25 }).maxOutputTokens).toBe(25);
    expect(budget.reserveModelCall({ inputTokens: 1, maxOutputTokens: 4096 }).maxOutputTokens).toBe(75);
  });

  it('of money is counted like one of tokens', () => {
    const { budget } = setUp({ max_cost_usd: 0.004 }, PRICES);
    expect(budget.reserveModelCall({ inputTokens: 0, maxOutputTokens: 4096, share: 0.25 }).maxOutputTokens).toBe(100);
    expect(budget.reserveModelCall({ inputTokens: 0, maxOutputTokens: 4096 }).maxOutputTokens).toBe(300);
  });

  it('of input is refused where the call is larger', () => {
    const { budget } = setUp({ max_input_tokens: 100 });
    expect(() => budget.reserveModelCall({ inputTokens: 26, maxOutputTokens: 1, share: 0.25 })).toThrow(exceeded('input_tokens', 26, 100));
    budget.reserveModelCall({ inputTokens: 25, maxOutputTokens: 1, share: 0.25 });
    budget.reserveModelCall({ inputTokens: 75, maxOutputTokens: 1 });
  });
});

describe('token limits', () => {
  it('refuse a call whose estimated input does not fit', () => {
    const { budget } = setUp({ max_input_tokens: 100 });
    budget.reserveModelCall({ inputTokens: 100, maxOutputTokens: 5 }).settle(usage(60, 5));
    expect(() => budget.reserveModelCall({ inputTokens: 41, maxOutputTokens: 5 })).toThrow(exceeded('input_tokens', 101, 100));
    budget.reserveModelCall({ inputTokens: 40, maxOutputTokens: 5 });
  });

  it('count input, cache reads and cache writes together', () => {
    const { budget } = setUp({ max_input_tokens: 100 });
    budget
      .reserveModelCall({ inputTokens: 10, maxOutputTokens: 5 })
      .settle({ input: 20, output: 1, cache_read: 50, cache_write: 31, estimated: false });
    expect(budget.exceeded()).toEqual(exceeded('input_tokens', 101, 100));
    expect(budget.spent().usage).toEqual({ input: 20, output: 1, cache_read: 50, cache_write: 31, estimated: false });
  });

  it('lower the output of a call to what is left, and refuse it when nothing is', () => {
    const { budget } = setUp({ max_output_tokens: 100 });
    const first = budget.reserveModelCall({ inputTokens: 1, maxOutputTokens: 4096 });
    expect(first.maxOutputTokens).toBe(100);
    first.settle(usage(1, 70));
    const second = budget.reserveModelCall({ inputTokens: 1, maxOutputTokens: 4096 });
    expect(second.maxOutputTokens).toBe(30);
    second.settle(usage(1, 30));
    expect(budget.exceeded()).toBeUndefined();
    expect(() => budget.reserveModelCall({ inputTokens: 1, maxOutputTokens: 1 })).toThrow(exceeded('output_tokens', 100, 100));
  });

  it('book a call in full that turned out larger than its reservation', () => {
    const { budget } = setUp({ max_output_tokens: 10 });
    budget.reserveModelCall({ inputTokens: 1, maxOutputTokens: 10 }).settle(usage(1, 25));
    expect(budget.exceeded()).toEqual(exceeded('output_tokens', 25, 10));
  });

  it('of zero are off', () => {
    const { budget } = setUp(
      { max_input_tokens: 0, max_output_tokens: 0, max_tool_calls: 0, max_runtime_seconds: 0, max_cost_usd: 0 },
      PRICES,
    );
    expect(budget.reserveModelCall({ inputTokens: 1e9, maxOutputTokens: 1e9 }).maxOutputTokens).toBe(1e9);
    expect(budget.reserveToolCall()).toBe(true);
    expect(budget.remainingMs()).toBeUndefined();
    expect(budget.used()).toBe(0);
  });
});

describe('reservations', () => {
  it('are shared by parallel calls', () => {
    const { budget } = setUp({ max_input_tokens: 100, max_output_tokens: 100 });
    const first = budget.reserveModelCall({ inputTokens: 60, maxOutputTokens: 60 });
    expect(() => budget.reserveModelCall({ inputTokens: 60, maxOutputTokens: 60 })).toThrow(exceeded('input_tokens', 120, 100));
    const second = budget.reserveModelCall({ inputTokens: 40, maxOutputTokens: 60 });
    expect(second.maxOutputTokens).toBe(40);
    first.release();
    expect(budget.reserveModelCall({ inputTokens: 60, maxOutputTokens: 60 }).maxOutputTokens).toBe(60);
  });

  it('count once, whatever is called again', () => {
    const { budget } = setUp({ max_input_tokens: 100 });
    const call = budget.reserveModelCall({ inputTokens: 50, maxOutputTokens: 1 });
    call.settle(usage(10, 1));
    call.settle(usage(10, 1));
    call.release();
    expect(budget.spent().usage.input).toBe(10);
    expect(() => budget.reserveModelCall({ inputTokens: 91, maxOutputTokens: 1 })).toThrow(exceeded('input_tokens', 101, 100));
  });

  it('never let the booked sum pass a limit while calls stay inside their reservations', () => {
    const call = fc.record({
      input: fc.nat(300),
      output: fc.nat(300),
      used: fc.double({ min: 0, max: 1, noNaN: true }),
      open: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(call, { maxLength: 30 }), (calls) => {
        const { budget } = setUp(
          { max_input_tokens: 1000, max_output_tokens: 500, max_cost_usd: 0.003 },
          { input_cost_per_million_usd: 1.7, output_cost_per_million_usd: 3.3 },
        );
        const waiting: (() => void)[] = [];
        for (const { input, output, used, open } of calls) {
          try {
            const place = budget.reserveModelCall({ inputTokens: input, maxOutputTokens: output });
            const end = () => void place.settle(usage(Math.floor(input * used), Math.floor(place.maxOutputTokens * used)));
            if (open) waiting.push(end);
            else end();
          } catch {
            waiting.shift()?.();
          }
        }
        for (const end of waiting) end();
        expect(budget.exceeded()).toBeUndefined();
        expect(budget.spent().costMicroUsd).toBeLessThanOrEqual(3000);
      }),
    );
  });
});

describe('the cost limit', () => {
  it('is kept in whole millionths of a dollar', () => {
    const { budget } = setUp({}, PRICES);
    expect(budget.reserveModelCall({ inputTokens: 1, maxOutputTokens: 1 }).settle(usage(1000, 50))).toBe(2500);
    budget.reserveModelCall({ inputTokens: 1, maxOutputTokens: 1 }).settle(usage(1, 0));
    expect(budget.spent().costMicroUsd).toBe(2502);
  });

  it('lowers the output to what is affordable and reports dollars', () => {
    const { budget } = setUp({ max_cost_usd: 0.01 }, PRICES);
    const call = budget.reserveModelCall({ inputTokens: 1000, maxOutputTokens: 5000 });
    expect(call.maxOutputTokens).toBe(800);
    call.settle(usage(1000, 790));
    expect(() => budget.reserveModelCall({ inputTokens: 100, maxOutputTokens: 1 })).toThrow(exceeded('cost_usd', 0.01011, 0.01));
  });

  it('is off without both prices', () => {
    const { budget } = setUp({ max_cost_usd: 0.000001 }, { input_cost_per_million_usd: 2 });
    expect(budget.reserveModelCall({ inputTokens: 1e6, maxOutputTokens: 7 }).settle(usage(1e6, 7))).toBeUndefined();
    expect(budget.spent()).not.toHaveProperty('costMicroUsd');
    expect(budget.exceeded()).toBeUndefined();
  });

  it('takes the exact model entry, and the flat price for what the entry lacks', () => {
    const prices: Prices = {
      ...PRICES,
      model_prices: { big: { output_cost_per_million_usd: 40 }, constructor: { input_cost_per_million_usd: 1 } },
    };
    const costOf = (model: string) =>
      setUp({}, prices, model).budget.reserveModelCall({ inputTokens: 1, maxOutputTokens: 1 }).settle(usage(100, 10));
    expect(costOf('big')).toBe(600);
    expect(costOf('big-2')).toBe(300);
    expect(costOf('toString')).toBe(300);
  });

  it('books a side call at the price of its own model, and at the price of the run where that is unknown', () => {
    const entry = { input_cost_per_million_usd: 2, output_cost_per_million_usd: 10 };
    const cheap = { input_cost_per_million_usd: 1, output_cost_per_million_usd: 1 };
    const { budget } = setUp({ max_cost_usd: 1 }, { model_prices: { m: entry, cheap } });
    const call = (model?: string) =>
      budget.reserveModelCall({ inputTokens: 1, maxOutputTokens: 1, ...(model !== undefined && { model }) }).settle(usage(100, 10));
    expect(call()).toBe(300);
    expect(call('cheap')).toBe(110);
    expect(call('unpriced')).toBeUndefined();
    expect(budget.spent().costMicroUsd).toBe(300 + 110 + 300);
  });

  it('counts a model that is free as free', () => {
    const { budget } = setUp(
      { max_cost_usd: 1 },
      { ...PRICES, model_prices: { m: { input_cost_per_million_usd: 0, output_cost_per_million_usd: 0 } } },
    );
    expect(budget.reserveModelCall({ inputTokens: 1e9, maxOutputTokens: 9 }).maxOutputTokens).toBe(9);
  });
});

describe('the tool-call limit', () => {
  it('lets the remaining slots run and refuses the rest', () => {
    const { budget } = setUp({ max_tool_calls: 2 });
    expect([1, 2, 3, 4].map(() => budget.reserveToolCall())).toEqual([true, true, false, false]);
    expect(budget.spent().toolCalls).toBe(2);
    expect(budget.exceeded()).toEqual(exceeded('tool_calls', 4, 2));
  });

  it('is not exceeded by using all of it', () => {
    const { budget } = setUp({ max_tool_calls: 1 });
    budget.reserveToolCall();
    expect(budget.exceeded()).toBeUndefined();
  });
});

describe('usage', () => {
  it('is marked as estimated once any part of it is', () => {
    const { budget } = setUp({});
    budget.reserveModelCall({ inputTokens: 1, maxOutputTokens: 1 }).settle(usage(1, 1));
    expect(budget.spent().usage.estimated).toBe(false);
    budget.reserveModelCall({ inputTokens: 1, maxOutputTokens: 1 }).settle({ input: 4, output: 4, estimated: true });
    expect(budget.spent().usage).toEqual({ input: 5, output: 5, estimated: true });
  });
});

describe('awareness lines', () => {
  it('have the exact form and come once each', () => {
    const { budget } = setUp({});
    const lines = [7, 8, 9, 12, 13, 14, 15].map((iteration) => budget.warnings({ iteration, maxIterations: 15 }));
    expect(lines).toEqual([
      undefined,
      '[budget: 50% used (8/15 iterations) — stay on plan; defer optional work.]',
      undefined,
      '[budget: 75% used (12/15 iterations) — begin consolidating findings; wrap up within the remaining budget.]',
      undefined,
      '[budget: 90% used (14/15 iterations) — final stretch: deliver your report with the next response.]',
      undefined,
    ]);
  });

  it('speak for the dimension that is used most', async () => {
    const { clock, budget } = setUp({ max_runtime_seconds: 120, max_tool_calls: 4, max_cost_usd: 2 }, PRICES);
    await clock.advance(60_000);
    expect(budget.warnings({ iteration: 1, maxIterations: 90 })).toContain('50% used (1m0s of 2m0s elapsed)');
    for (let call = 0; call < 3; call += 1) budget.reserveToolCall();
    expect(budget.warnings({ iteration: 2, maxIterations: 90 })).toContain('75% used (3/4 tool calls)');
    budget.reserveModelCall({ inputTokens: 1, maxOutputTokens: 1 }).settle(usage(900_000, 10_000));
    expect(budget.warnings({ iteration: 3, maxIterations: 90 })).toContain('90% used ($1.90 of $2.00 spent)');
    expect(budget.used()).toBeCloseTo(0.95);
  });

  it('skip the lower ones when several are crossed at once', () => {
    const { budget } = setUp({ max_output_tokens: 100 });
    budget.reserveModelCall({ inputTokens: 1, maxOutputTokens: 100 }).settle(usage(1, 95));
    expect(budget.warnings({ iteration: 1, maxIterations: 90 })).toContain('90% used (95/100 output tokens)');
    expect(budget.warnings({ iteration: 60, maxIterations: 90 })).toBeUndefined();
  });
});
