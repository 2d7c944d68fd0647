import { describe, expect, it } from 'vitest';
import { shellPlace } from '../adapters/process/fixture.ts';
import { confinedShellPlace } from '../adapters/process/sandbox/contract-places.ts';
import { brokenProcessRunners, fakePlace } from './process.broken.ts';
import { processSuite } from './process.suite.ts';

const subjects = {
  'the runner of real processes': { place: shellPlace },
  'the runner of processes in a sandbox': { place: confinedShellPlace },
  'the fake runner': { place: async () => fakePlace() },
};

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a process runner`, () => {
    for (const { id, sentence, run } of processSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a process runner', () => {
  for (const { name, caughtBy, harness } of brokenProcessRunners) {
    it(`rejects a runner that ${name} (${caughtBy})`, async () => {
      const found = processSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken runner for each of its cases', () => {
    const caught = new Set(brokenProcessRunners.map(({ caughtBy }) => caughtBy));
    expect(processSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
