import type { Prices } from '../../ports/budget.ts';
import type { Usage } from '../../ports/message.ts';

/** Both prices of one model. US dollars per million tokens is the same number as millionths of a dollar per token. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

/**
 * The price of `model`: its exact entry in `model_prices`, each price that is missing there taken
 * from the flat pair. Undefined unless both prices are known.
 */
export function resolvePrice(prices: Prices, model: string): Price | undefined {
  const entry = Object.hasOwn(prices.model_prices ?? {}, model) ? prices.model_prices?.[model] : undefined;
  const input = entry?.input_cost_per_million_usd ?? prices.input_cost_per_million_usd;
  const output = entry?.output_cost_per_million_usd ?? prices.output_cost_per_million_usd;
  return input === undefined || output === undefined ? undefined : { input, output };
}

/** Input tokens that count against limits and cost: fresh, read from cache and written to cache. */
export function inputTokens(usage: Usage): number {
  return usage.input + (usage.cache_read ?? 0) + (usage.cache_write ?? 0);
}

/** Cost in whole millionths of a US dollar. */
export function costMicroUsd(tokens: { readonly input: number; readonly output: number }, price: Price): number {
  return Math.round(tokens.input * price.input + tokens.output * price.output);
}

/** Millionths of a dollar as dollars, for people, events and results. */
export function microToUsd(micro: number): number {
  return micro / 1_000_000;
}
