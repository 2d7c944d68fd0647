import { describe, expect, it } from 'vitest';
import { brokenPlanControls, realPlanControl } from './plan-control.broken.ts';
import { planControlSuite } from './plan-control.suite.ts';

describe('the plan store keeps the contract of a plan control', () => {
  for (const { id, sentence, run } of planControlSuite.cases) it(`${id}: ${sentence}`, () => run(realPlanControl));
});

describe('the suite of a plan control', () => {
  it.each(brokenPlanControls)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = planControlSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });

  it('has a broken control for each of its cases', () => {
    const caught = new Set(brokenPlanControls.map(({ caughtBy }) => caughtBy));
    expect(planControlSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
