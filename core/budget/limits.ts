import type { BudgetLimits } from '../../ports/budget.ts';
import type { Usage } from '../../ports/message.ts';
import { inputTokens, microToUsd, type Price } from './price.ts';
import { type Dimension, formatElapsed } from './warnings.ts';

/** The limits that are active, in the ledger's own units. */
interface ActiveLimits {
  readonly runtimeMs?: number;
  readonly toolCalls?: number;
  readonly input?: number;
  readonly output?: number;
  readonly micro?: number;
}

/** Absent, zero and negative limits are off; the cost limit also without both prices. */
export function activeLimits(limits: BudgetLimits, price: Price | undefined): ActiveLimits {
  const on = (value: number | undefined): value is number => value !== undefined && value > 0;
  const { max_runtime_seconds, max_tool_calls, max_input_tokens, max_output_tokens, max_cost_usd } = limits;
  return {
    ...(on(max_runtime_seconds) && { runtimeMs: max_runtime_seconds * 1000 }),
    ...(on(max_tool_calls) && { toolCalls: max_tool_calls }),
    ...(on(max_input_tokens) && { input: max_input_tokens }),
    ...(on(max_output_tokens) && { output: max_output_tokens }),
    ...(on(max_cost_usd) && price !== undefined && { micro: Math.round(max_cost_usd * 1_000_000) }),
  };
}

function dollars(micro: number): string {
  return `$${microToUsd(micro).toFixed(micro < 100_000 ? 4 : 2)}`;
}

/** How far each active limit is used by what was booked. */
export function usedDimensions(
  limits: ActiveLimits,
  used: { readonly usage: Usage; readonly micro: number; readonly toolCalls: number; readonly runtimeMs: number },
): readonly Dimension[] {
  const found: Dimension[] = [];
  const add = (value: number, limit: number | undefined, detail: (limit: number) => string) => {
    if (limit !== undefined) found.push({ share: value / limit, detail: detail(limit) });
  };
  const input = inputTokens(used.usage);
  add(used.runtimeMs, limits.runtimeMs, (limit) => `${formatElapsed(used.runtimeMs)} of ${formatElapsed(limit)} elapsed`);
  add(used.toolCalls, limits.toolCalls, (limit) => `${used.toolCalls}/${limit} tool calls`);
  add(input, limits.input, (limit) => `${input}/${limit} input tokens`);
  add(used.usage.output, limits.output, (limit) => `${used.usage.output}/${limit} output tokens`);
  add(used.micro, limits.micro, (limit) => `${dollars(used.micro)} of ${dollars(limit)} spent`);
  return found;
}
