/** What a figure can be grouped by. `day` is `YYYY-MM-DD` in the machine's own time zone. */
export const USAGE_DIMENSIONS = ['day', 'provider', 'model', 'purpose', 'surface'] as const;
export type UsageDimension = (typeof USAGE_DIMENSIONS)[number];

/** Times are milliseconds since the epoch. */
export interface UsageQuery {
  /** From this time on. */
  readonly since?: number;
  /** Up to, and without, this time. */
  readonly until?: number;
  readonly by: readonly UsageDimension[];
}

/** The sums of one group of model calls. Exactly the dimensions asked for are there. */
export interface UsageTotal {
  readonly day?: string;
  readonly provider?: string;
  readonly model?: string;
  readonly purpose?: 'main' | 'side';
  /** Who ran it: `run`, `repl`, `serve`, …; `unknown` for calls older than this ledger. */
  readonly surface?: string;
  readonly calls: number;
  /** Tokens; without those read from or written to a cache. */
  readonly input: number;
  readonly output: number;
  /** Absent when no call of the group reported it, which is not the same as zero. */
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** Calls whose figures are odek's own estimates. */
  readonly estimated: number;
  /** Millionths of a US dollar, of the calls whose price is known; absent when that is none. */
  readonly costMicroUsd?: number;
  /** Calls whose price is not known. */
  readonly unpriced: number;
}

/**
 * The ledger of every model call, main and side, of all runs on this machine. It holds figures and
 * names, no text.
 *
 * Contract (the `usage-store` suite):
 * - A call is in the totals once the `append` of its `usage` record resolved, and once only.
 * - There is one total for each group that has a call, and none for others.
 * - Totals come in the order of their dimensions, the first one first.
 * - `since` is included, `until` is not.
 * - A day begins at midnight of the machine's time zone.
 * - Figures that no call of a group reported are absent, not zero.
 * - A call without a known price is counted as such and adds nothing to the cost.
 * - Figures stay when their session is removed or discarded.
 */
export interface UsageStore {
  totals(query: UsageQuery): Promise<readonly UsageTotal[]>;
}
