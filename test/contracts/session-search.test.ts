import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createRandomIds } from '../../adapters/ids/random.ts';
import { createSessionSearch } from '../../adapters/session-search/store.ts';
import { openStore } from '../../adapters/store/index.ts';
import { brokenSessionSearches, memorySearchHarness, putSessions } from './session-search.broken.ts';
import { type SessionSearchHarness, sessionSearchSuite } from './session-search.suite.ts';

const onDisk: SessionSearchHarness = {
  async make(sessions) {
    const folder = await mkdtemp(join(tmpdir(), 'odek-search-'));
    let now = 1_700_000_000_000;
    const clock = { now: () => now, monotonic: () => now, sleep: async () => {}, after: () => () => {} };
    const store = await openStore({ path: join(folder, 'odek.db'), surface: 'test', durability: 'process', clock, ids: createRandomIds() });
    await putSessions(store.sessions, sessions, () => {
      now += 1000;
    });
    return {
      search: createSessionSearch(store.sessions),
      async close() {
        await store.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
};

const subjects = { 'the search over the database': onDisk, 'the search over a store in memory': memorySearchHarness() };

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a session search`, () => {
    for (const { id, sentence, run } of sessionSearchSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a session search', () => {
  it.each(brokenSessionSearches)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = sessionSearchSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });

  it('has a broken search for each of its cases', () => {
    const caught = new Set(brokenSessionSearches.map(({ caughtBy }) => caughtBy));
    expect(sessionSearchSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
