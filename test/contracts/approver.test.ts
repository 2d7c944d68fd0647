import { describe, expect, it } from 'vitest';
import { scriptedSeat, storedSeat, terminalSeat } from '../adapters/approver/fixture.ts';
import { memorySeat } from '../fakes/approver.ts';
import { brokenApprovers } from './approver.broken.ts';
import { approverSuite } from './approver.suite.ts';

const subjects = {
  'the terminal': { seat: terminalSeat },
  'the script': { seat: scriptedSeat },
  'the store': { seat: storedSeat },
  'the person in memory': { seat: async () => memorySeat() },
};

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of an approver`, () => {
    for (const { id, sentence, run } of approverSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of an approver', () => {
  for (const { name, caughtBy, harness } of brokenApprovers) {
    it(`rejects an approver that ${name} (${caughtBy})`, async () => {
      const found = approverSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken approver for each of its cases', () => {
    const caught = new Set(brokenApprovers.map(({ caughtBy }) => caughtBy));
    expect(approverSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
