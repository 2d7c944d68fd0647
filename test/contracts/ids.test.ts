import { describe, expect, it } from 'vitest';
import { createRandomIds } from '../../adapters/ids/random.ts';
import { createSequentialIds } from '../fakes/ids.ts';
import { brokenIds } from './ids.broken.ts';
import { type IdsHarness, idsSuite } from './ids.suite.ts';

const subjects: Readonly<Record<string, IdsHarness>> = {
  'the random source': { make: createRandomIds },
  'the sequential source': { make: createSequentialIds, predictable: true },
};

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a source of ids`, () => {
    for (const { id, sentence, run } of idsSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a source of ids', () => {
  for (const { name, caughtBy, harness } of brokenIds) {
    it(`rejects one that ${name} (${caughtBy})`, async () => {
      const found = idsSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken subject for each of its cases', () => {
    const caught = new Set(brokenIds.map(({ caughtBy }) => caughtBy));
    expect(idsSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
