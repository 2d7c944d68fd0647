import type { Clock } from '../../ports/clock.ts';
import type { JournalRecord, SessionStore, SessionWriter } from '../../ports/session.ts';
import type { UsageDimension, UsageStore, UsageTotal } from '../../ports/usage.ts';
import { createMemorySessionStore } from './session-store.ts';

interface Call {
  readonly at: number;
  readonly surface: string;
  readonly record: Extract<JournalRecord, { kind: 'usage' }>;
}

function dayOf(at: number): string {
  const date = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function partOf({ at, surface, record }: Call, dimension: UsageDimension): string {
  if (dimension === 'day') return dayOf(at);
  return dimension === 'surface' ? surface : record[dimension];
}

function sumOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0);
}

function totalOf(calls: readonly Call[], by: readonly UsageDimension[]): UsageTotal {
  const [first] = calls;
  if (first === undefined) throw new Error('a group has a call');
  const records = calls.map(({ record }) => record);
  const optional = {
    cacheRead: sumOf(records.map(({ usage }) => usage.cache_read)),
    cacheWrite: sumOf(records.map(({ usage }) => usage.cache_write)),
    costMicroUsd: sumOf(records.map(({ costMicroUsd }) => costMicroUsd)),
  };
  return {
    ...Object.fromEntries(by.map((dimension) => [dimension, partOf(first, dimension)])),
    calls: calls.length,
    input: sumOf(records.map(({ usage }) => usage.input)) ?? 0,
    output: sumOf(records.map(({ usage }) => usage.output)) ?? 0,
    estimated: records.filter(({ usage }) => usage.estimated).length,
    unpriced: records.filter(({ costMicroUsd }) => costMicroUsd === undefined).length,
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}

/** Sessions and their ledger in memory. */
export function createMemoryUsage({ clock, surface }: { readonly clock: Clock; readonly surface: string }): {
  readonly sessions: SessionStore;
  readonly usage: UsageStore;
} {
  const calls: Call[] = [];
  const store = createMemorySessionStore({ clock });
  const watched = (writer: SessionWriter): SessionWriter => ({
    ...writer,
    async append(records) {
      const last = await writer.append(records);
      for (const record of records) if (record.kind === 'usage') calls.push({ at: clock.now(), surface, record });
      return last;
    },
  });
  return {
    sessions: {
      ...store,
      create: async (session) => watched(await store.create(session)),
      open: async (...args) => watched(await store.open(...args)),
    },
    usage: {
      async totals({ since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY, by }) {
        const groups = new Map<string, Call[]>();
        for (const call of calls.filter(({ at }) => at >= since && at < until)) {
          const key = JSON.stringify(by.map((dimension) => partOf(call, dimension)));
          groups.set(key, [...(groups.get(key) ?? []), call]);
        }
        return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, group]) => totalOf(group, by));
      },
    },
  };
}
