import { OdekError } from './errors.ts';
import type { BudgetLimitName } from './event.ts';

/** Hard limits of one run (EXTENSIONS, "Budget exit behavior"). Absent or zero means off. */
export interface BudgetLimits {
  readonly max_runtime_seconds?: number;
  readonly max_tool_calls?: number;
  readonly max_input_tokens?: number;
  readonly max_output_tokens?: number;
  readonly max_cost_usd?: number;
}

/** US dollars per million tokens. */
export interface ModelPrice {
  readonly input_cost_per_million_usd?: number;
  readonly output_cost_per_million_usd?: number;
}

/** The flat pair, and exact model ids that override it, each missing price falling back by itself. */
export interface Prices extends ModelPrice {
  readonly model_prices?: Readonly<Record<string, ModelPrice>>;
}

/** A limit is used up. `code` is `budget_exceeded`. */
export class BudgetExceeded extends OdekError {
  readonly limitName: BudgetLimitName;
  readonly observed: number;

  constructor(limitName: BudgetLimitName, observed: number, limit: number) {
    super('budget_exceeded', `budget exceeded: ${limitName} is ${observed}, the limit is ${limit}`, { value: observed, limit });
    this.limitName = limitName;
    this.observed = observed;
  }
}
