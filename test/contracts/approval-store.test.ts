import { describe, expect, it } from 'vitest';
import { movableClock, open, startApprovalsChild, tempPlace } from '../adapters/store/fixture.ts';
import { brokenApprovalStores, memoryApprovals } from './approval-store.broken.ts';
import { type ApprovalStoreHarness, approvalStoreSuite } from './approval-store.suite.ts';

const sqlite: ApprovalStoreHarness = {
  async place() {
    const place = tempPlace();
    const clock = movableClock();
    const closers: (() => Promise<void>)[] = [];
    return {
      async open() {
        const store = await open(place.path, { clock });
        closers.push(store.close);
        return store.approvals;
      },
      async askAndDie(request) {
        const child = startApprovalsChild(place.path, 'die', JSON.stringify(request));
        await child.exited;
        if (child.process.signalCode !== 'SIGKILL') throw new Error('the child was to be killed');
      },
      advance: clock.move,
      async close() {
        for (const close of closers) await close();
        place.remove();
      },
    };
  },
};

const subjects = { 'the SQLite store': sqlite, 'the memory store': memoryApprovals() };

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of an approval store`, () => {
    for (const { id, sentence, run } of approvalStoreSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of an approval store', () => {
  for (const { name, caughtBy, harness } of brokenApprovalStores) {
    it(`rejects a store that ${name} (${caughtBy})`, async () => {
      const found = approvalStoreSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken store for each of its cases', () => {
    const caught = new Set(brokenApprovalStores.map(({ caughtBy }) => caughtBy));
    expect(approvalStoreSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
