import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../adapters/clock/system.ts';
import { createRandomIds } from '../../adapters/ids/random.ts';
import { openStore, type Store } from '../../adapters/store/index.ts';
import { brokenArtifactLedgers, memoryLedgerHarness } from './artifact-ledger.broken.ts';
import { type ArtifactLedgerHarness, artifactLedgerSuite } from './artifact-ledger.suite.ts';

const onDisk: ArtifactLedgerHarness = {
  async make() {
    const folder = await mkdtemp(join(tmpdir(), 'odek-ledger-'));
    const opened: Store[] = [];
    const open = async (): Promise<Store> => {
      const path = join(folder, 'odek.db');
      const store = await openStore({ path, surface: 'test', durability: 'process', clock: createSystemClock(), ids: createRandomIds() });
      opened.push(store);
      return store;
    };
    const store = await open();
    for (const id of ['s-1', 's-2']) {
      const facts = { title: id, provider: 'p', model: 'm', workspace: '/w', externalRefs: [] };
      await (await store.sessions.create({ id, listed: true, ...facts })).close();
    }
    return {
      ledger: store.artifacts,
      sessions: ['s-1', 's-2'],
      reopen: async () => (await open()).artifacts,
      remove: async (session) => void (await store.sessions.remove([session])),
      async close() {
        for (const each of opened) await each.close();
        await rm(folder, { recursive: true, force: true });
      },
    };
  },
};

for (const [name, harness] of Object.entries({ 'the ledger in the database': onDisk, 'the ledger in memory': memoryLedgerHarness() })) {
  describe(`${name} keeps the contract of an artifact ledger`, () => {
    for (const { id, sentence, run } of artifactLedgerSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of an artifact ledger', () => {
  it.each(brokenArtifactLedgers)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = artifactLedgerSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });

  it('has a broken ledger for each of its cases', () => {
    const caught = new Set(brokenArtifactLedgers.map(({ caughtBy }) => caughtBy));
    expect(artifactLedgerSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
