import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JournalRecord } from '../../../ports/session.ts';
import { open, tempPlace } from './fixture.ts';

let place: ReturnType<typeof tempPlace>;
beforeEach(() => {
  place = tempPlace();
});
afterEach(() => place.remove());

const NEW = { title: 'secret title', provider: 'p', model: 'm', workspace: '/', listed: false, externalRefs: [] };

function call(cost?: number): JournalRecord {
  const usage = { input: 10, output: 5, cache_read: 3, estimated: true };
  return { kind: 'usage', run: 'r', provider: 'p', model: 'm', purpose: 'side', usage, ...(cost !== undefined && { costMicroUsd: cost }) };
}

it('takes over the calls of journals that are older than the ledger, and passes by what cannot be read', async () => {
  const store = await open(place.path);
  const writer = await store.sessions.create({ id: 'old', ...NEW });
  await writer.append([{ kind: 'slot', name: 'memory', content: 'text' }, call(), call(7)]);
  await store.close();
  const raw = new DatabaseSync(place.path);
  // Only what the first schema had is left.
  const later = `SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'trigger') AND name NOT IN ('sessions', 'records')
    AND name NOT LIKE 'search%' AND name NOT LIKE 'sqlite%' ORDER BY type DESC`;
  for (const { type, name } of raw.prepare(later).all()) raw.exec(`DROP ${type} ${name}`);
  raw.exec('PRAGMA user_version = 1');
  raw.exec(`INSERT INTO records (id, at, kind, json) SELECT max(id) + 1, 5, 'usage', '{"torn' FROM records`);
  raw.close();
  const again = await open(place.path);
  expect(await again.usage.totals({ by: ['provider', 'model', 'purpose', 'surface'] })).toEqual([
    {
      provider: 'p',
      model: 'm',
      purpose: 'side',
      surface: 'unknown',
      calls: 2,
      input: 20,
      output: 10,
      cacheRead: 6,
      estimated: 2,
      costMicroUsd: 7,
      unpriced: 1,
    },
  ]);
  await again.close();
});

it('is stored with its journal record or not at all', async () => {
  const store = await open(place.path);
  const writer = await store.sessions.create({ id: 's', ...NEW });
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const bad = { kind: 'slot', name: 'memory', content: cyclic } as unknown as JournalRecord;
  await expect(writer.append([call(), bad])).rejects.toMatchObject({ code: 'store_error' });
  expect(await store.usage.totals({ by: [] })).toEqual([]);
  await writer.append([call()]);
  expect(await store.usage.totals({ by: [] })).toMatchObject([{ calls: 1 }]);
  await store.close();
});

it('holds names and figures, and no text of a session', async () => {
  const store = await open(place.path, { surface: 'repl' });
  const writer = await store.sessions.create({ id: 's', ...NEW });
  await writer.append([{ kind: 'message', run: 'r', iteration: 0, message: { role: 'user', content: 'private words' } }, call()]);
  await writer.close({ discard: true });
  await store.close();
  const raw = new DatabaseSync(place.path);
  const rows = raw.prepare('SELECT * FROM usage').all();
  raw.close();
  expect(rows).toHaveLength(1);
  expect(
    Object.values(rows[0] ?? {})
      .filter((value) => typeof value === 'string')
      .sort(),
  ).toEqual(['m', 'p', 'repl', 'side']);
});

it('sums up a hundred thousand calls without delay', async () => {
  const store = await open(place.path);
  await store.close();
  const raw = new DatabaseSync(place.path);
  raw.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO usage SELECT i, i * 1000, 'run', 'p', 'm' || (i % 7), 'main', 10, 5, NULL, NULL, 0, NULL FROM n`);
  raw.close();
  const again = await open(place.path);
  const started = performance.now();
  expect(await again.usage.totals({ by: ['model'] })).toHaveLength(7);
  expect(performance.now() - started).toBeLessThan(3_000);
  await again.close();
});
