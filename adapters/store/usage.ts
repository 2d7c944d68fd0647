import type { JournalRecord } from '../../ports/session.ts';
import { USAGE_DIMENSIONS, type UsageDimension, type UsageQuery, type UsageStore, type UsageTotal } from '../../ports/usage.ts';
import type { Database } from './database.ts';
import { toText } from './journal-rows.ts';

const INSERT = `INSERT INTO usage (id, at, surface, provider, model, purpose, input, output, cache_read, cache_write, estimated, cost_micro_usd)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const COLUMNS: Readonly<Record<UsageDimension, string>> = {
  day: "date(at / 1000, 'unixepoch', 'localtime')",
  provider: 'provider',
  model: 'model',
  purpose: 'purpose',
  surface: 'surface',
};

/** SQLite's sum of nothing but NULL is NULL: what nobody reported stays unknown. */
const SUMS = `count(*) AS calls, sum(input) AS input, sum(output) AS output, sum(cache_read) AS cacheRead, sum(cache_write) AS cacheWrite,
  sum(estimated) AS estimated, sum(cost_micro_usd) AS costMicroUsd, sum(cost_micro_usd IS NULL) AS unpriced`;

type TotalRow = Readonly<Record<string, string | number | null>>;

interface UsagePlace {
  /** The key of the journal row. */
  readonly id: number;
  readonly at: number;
  readonly surface: string;
}

/** Enters a call. To be used in the transaction that stores its journal record. */
export function recordUsage(db: Database, { id, at, surface }: UsagePlace, record: Extract<JournalRecord, { kind: 'usage' }>): void {
  const { provider, model, purpose, usage, costMicroUsd } = record;
  const figures = [usage.input, usage.output, usage.cache_read ?? null, usage.cache_write ?? null, Number(usage.estimated)];
  db.run(INSERT, id, at, toText(surface), toText(provider), toText(model), purpose, ...figures, costMicroUsd ?? null);
}

function totals(db: Database, { since, until, by }: UsageQuery): UsageTotal[] {
  const groups = USAGE_DIMENSIONS.filter((each) => by.includes(each));
  const order = [...new Set(by)];
  const wheres: string[] = [];
  const values: number[] = [];
  if (since !== undefined) {
    wheres.push('at >= ?');
    values.push(since);
  }
  if (until !== undefined) {
    wheres.push('at < ?');
    values.push(until);
  }
  const columns = groups.map((each) => `${COLUMNS[each]} AS ${each}`);
  const sql = [
    `SELECT ${[...columns, SUMS].join(', ')} FROM usage`,
    wheres.length > 0 ? `WHERE ${wheres.join(' AND ')}` : '',
    order.length > 0 ? `GROUP BY ${order.map((each) => COLUMNS[each]).join(', ')}` : '',
    'HAVING count(*) > 0',
    order.length > 0 ? `ORDER BY ${order.map((each) => COLUMNS[each]).join(', ')}` : '',
  ].join(' ');
  return db
    .all<TotalRow>(sql, ...values)
    .map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as unknown as UsageTotal);
}

/** The {@link UsageStore} over one database connection. */
export function openUsage(db: Database): UsageStore {
  return { totals: async (query) => totals(db, query) };
}
