import { describe, expect, it } from 'vitest';
import { brokenToolCatalogues, catalogueHarness } from './tool-catalogue.broken.ts';
import { toolCatalogueSuite } from './tool-catalogue.suite.ts';

describe('the catalogue of a registry keeps its contract', () => {
  for (const { id, sentence, run } of toolCatalogueSuite.cases) it(`${id}: ${sentence}`, () => run(catalogueHarness()));
});

describe('the suite of a tool catalogue', () => {
  it.each(brokenToolCatalogues)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = toolCatalogueSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });
});
