import { describe, expect, it } from 'vitest';
import { movableClock, open, tempPlace } from '../adapters/store/fixture.ts';
import { brokenUsageStores, memoryUsage } from './usage-store.broken.ts';
import { type UsageStoreHarness, usageStoreSuite } from './usage-store.suite.ts';

const sqlite: UsageStoreHarness = {
  async place({ surface, now }) {
    const place = tempPlace();
    const store = await open(place.path, { surface, clock: { ...movableClock(), now } });
    return {
      sessions: store.sessions,
      usage: store.usage,
      async close() {
        await store.close();
        place.remove();
      },
    };
  },
};

const subjects = { 'the SQLite ledger': sqlite, 'the memory ledger': memoryUsage };

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a usage store`, () => {
    for (const { id, sentence, run } of usageStoreSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a usage store', () => {
  for (const { name, caughtBy, harness } of brokenUsageStores) {
    it(`rejects a ledger that ${name} (${caughtBy})`, async () => {
      const found = usageStoreSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken ledger for each of its cases', () => {
    const caught = new Set(brokenUsageStores.map(({ caughtBy }) => caughtBy));
    expect(usageStoreSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
