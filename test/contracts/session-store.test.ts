import { describe, expect, it } from 'vitest';
import { sqlitePlace } from '../adapters/store/fixture.ts';
import { brokenSessionStores, memoryPlace } from './session-store.broken.ts';
import { sessionStoreSuite } from './session-store.suite.ts';

const subjects = {
  'the SQLite store': { place: sqlitePlace },
  'the memory store': { place: async () => memoryPlace() },
};

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a session store`, () => {
    for (const { id, sentence, run } of sessionStoreSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a session store', () => {
  for (const { name, caughtBy, harness } of brokenSessionStores) {
    it(`rejects a store that ${name} (${caughtBy})`, async () => {
      const found = sessionStoreSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken store for each of its cases', () => {
    const caught = new Set(brokenSessionStores.map(({ caughtBy }) => caughtBy));
    expect(sessionStoreSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
