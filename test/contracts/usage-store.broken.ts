import type { UsageDimension, UsageQuery, UsageTotal } from '../../ports/usage.ts';
import { createManualClock } from '../fakes/clock.ts';
import { createMemoryUsage } from '../fakes/usage.ts';
import type { BrokenAdapter } from './suite.ts';
import type { UsagePlace, UsageStoreHarness } from './usage-store.suite.ts';

/** The memory ledger, as a subject of the suite. */
export const memoryUsage: UsageStoreHarness = {
  place: async ({ surface, now }) => ({ ...createMemoryUsage({ clock: { ...createManualClock(), now }, surface }), close: async () => {} }),
};

type Ask = (query: UsageQuery) => Promise<readonly UsageTotal[]>;

function broken(name: string, caughtBy: string, change: (ask: Ask, place: UsagePlace) => Ask): BrokenAdapter<UsageStoreHarness> {
  return {
    name,
    caughtBy: `usage-store/${caughtBy}`,
    harness: {
      place: async (given) => {
        const place = await memoryUsage.place(given);
        return { ...place, usage: { totals: change(place.usage.totals, place) } };
      },
    },
  };
}

const mapped = (change: (total: UsageTotal) => UsageTotal) => (ask: Ask) => async (query: UsageQuery) => (await ask(query)).map(change);

const EMPTY: UsageTotal = { calls: 0, input: 0, output: 0, estimated: 0, unpriced: 0 };

function utcDays(ask: Ask): Ask {
  return async (query) => {
    if (!query.by.includes('day')) return ask(query);
    return (await ask({ ...query, by: query.by.filter((each) => each !== 'day') })).map((total) => ({ ...total, day: '2026-03-10' }));
  };
}

function forgetsRemoved(ask: Ask, place: UsagePlace): Ask {
  return async (query) => {
    const all = await ask(query);
    const left = await place.sessions.find({ limit: 100, unlisted: true });
    return all.map((total) => ({ ...total, calls: Math.min(total.calls, left.length) }));
  };
}

/** Ledgers that the suite must reject. */
export const brokenUsageStores: readonly BrokenAdapter<UsageStoreHarness>[] = [
  broken(
    'counts every call twice',
    'once',
    mapped((total) => ({ ...total, calls: total.calls * 2 })),
  ),
  broken('gives a total of nothing', 'groups', (ask) => async (query) => {
    const totals = await ask(query);
    return totals.length > 0 ? totals : [EMPTY];
  }),
  broken(
    'adds dimensions that nobody asked for',
    'groups',
    mapped((total) => ({ ...total, day: '2026-03-10' })),
  ),
  broken('sorts by its own order', 'order', (ask) => async (query) => {
    const own: readonly UsageDimension[] = ['provider', 'model', 'purpose', 'surface', 'day'];
    return ask({ ...query, by: own.filter((each) => query.by.includes(each)) });
  }),
  broken(
    'leaves out the first moment',
    'range',
    (ask) => async (query) => ask({ ...query, ...(query.since !== undefined && { since: query.since + 1 }) }),
  ),
  broken(
    'takes in the last moment',
    'range',
    (ask) => async (query) => ask({ ...query, ...(query.until !== undefined && { until: query.until + 1 }) }),
  ),
  broken('puts all into one day', 'day', utcDays),
  broken(
    'takes what was not reported for zero',
    'unknown',
    mapped((total) => ({ cacheRead: 0, cacheWrite: 0, ...total })),
  ),
  broken(
    'takes an unknown price for nothing',
    'cost',
    mapped((total) => ({ ...total, unpriced: 0 })),
  ),
  broken(
    'tells an estimate as a fact',
    'cost',
    mapped((total) => ({ ...total, estimated: 0 })),
  ),
  broken('forgets with the session', 'stays', forgetsRemoved),
];
