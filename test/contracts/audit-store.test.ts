import { describe, expect, it } from 'vitest';
import { movableClock, open, tempPlace } from '../adapters/store/fixture.ts';
import { brokenAuditStores, memoryAudit } from './audit-store.broken.ts';
import { type AuditStoreHarness, auditStoreSuite } from './audit-store.suite.ts';

const sqlite: AuditStoreHarness = {
  async place({ now }) {
    const place = tempPlace();
    const store = await open(place.path, { clock: { ...movableClock(), now } });
    return {
      sessions: store.sessions,
      audit: store.audit,
      async close() {
        await store.close();
        place.remove();
      },
    };
  },
};

const subjects = { 'the SQLite audit': sqlite, 'the memory audit': memoryAudit };

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of an audit store`, () => {
    for (const { id, sentence, run } of auditStoreSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of an audit store', () => {
  for (const { name, caughtBy, harness } of brokenAuditStores) {
    it(`rejects an audit that ${name} (${caughtBy})`, async () => {
      const found = auditStoreSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken audit for each of its cases', () => {
    const caught = new Set(brokenAuditStores.map(({ caughtBy }) => caughtBy));
    expect(auditStoreSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
