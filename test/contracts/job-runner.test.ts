import { describe, expect, it } from 'vitest';
import { jobPlace } from '../adapters/process/jobs-fixture.ts';
import { confinedJobPlace } from '../adapters/process/sandbox/contract-places.ts';
import { brokenJobRunners, fakeJobPlace } from './job-runner.broken.ts';
import { jobRunnerSuite } from './job-runner.suite.ts';

const subjects = {
  'the runner of real processes': { place: jobPlace },
  'the runner of processes in a sandbox': { place: confinedJobPlace },
  'the fake runner': { place: async () => fakeJobPlace() },
};

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a job runner`, () => {
    for (const { id, sentence, run } of jobRunnerSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a job runner', () => {
  for (const { name, caughtBy, harness } of brokenJobRunners) {
    it(`rejects a runner that ${name} (${caughtBy})`, async () => {
      const found = jobRunnerSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken runner for each of its cases', () => {
    const caught = new Set(brokenJobRunners.map(({ caughtBy }) => caughtBy));
    expect(jobRunnerSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
