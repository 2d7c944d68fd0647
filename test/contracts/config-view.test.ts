import { describe, expect, it } from 'vitest';
import { brokenConfigViews, configViewHarness } from './config-view.broken.ts';
import { configViewSuite } from './config-view.suite.ts';

describe('the view of the resolved configuration keeps its contract', () => {
  for (const { id, sentence, run } of configViewSuite.cases) it(`${id}: ${sentence}`, () => run(configViewHarness()));
});

describe('the suite of a configuration view', () => {
  it.each(brokenConfigViews)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = configViewSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });
});
