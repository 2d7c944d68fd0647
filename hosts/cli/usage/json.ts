import type { UsageTotal } from '../../../ports/usage.ts';

/** A total in wire form: unknown figures are null, never zero. */
export function totalJson({ cacheRead, cacheWrite, costMicroUsd, ...plain }: UsageTotal): Readonly<Record<string, unknown>> {
  return {
    ...plain,
    cache_read: cacheRead ?? null,
    cache_write: cacheWrite ?? null,
    cost_usd: costMicroUsd === undefined ? null : costMicroUsd / 1_000_000,
  };
}
