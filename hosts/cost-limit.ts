import { resolvePrice } from '../core/budget/price.ts';
import type { ResolvedConfig } from './config/types.ts';

type Costs = Pick<ResolvedConfig, 'limits' | 'model_prices' | 'input_cost_per_million_usd' | 'output_cost_per_million_usd'>;

/** Says that the cost limit does nothing for this model, and what would help; undefined where it holds, or there is none. */
export function unenforcedCostLimit(config: Costs, model: string): string | undefined {
  const limit = config.limits.max_cost_usd ?? 0;
  if (limit <= 0 || resolvePrice(config, model) !== undefined) return undefined;
  return (
    `limits.max_cost_usd (${limit}) is not enforced: the two prices of model ${JSON.stringify(model)} are not known; ` +
    'set model_prices, or input_cost_per_million_usd and output_cost_per_million_usd'
  );
}
