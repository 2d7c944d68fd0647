import { describe, expect, it } from 'vitest';
import { brokenJobControls, deskHarness } from './job-control.broken.ts';
import { jobControlSuite } from './job-control.suite.ts';

describe('the job desk keeps the contract of a job control', () => {
  for (const { id, sentence, run } of jobControlSuite.cases) it(`${id}: ${sentence}`, () => run(deskHarness()));
});

describe('the suite of a job control', () => {
  it.each(brokenJobControls)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = jobControlSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });

  it('has a broken control for each of its cases', () => {
    const caught = new Set(brokenJobControls.map(({ caughtBy }) => caughtBy));
    expect(jobControlSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
