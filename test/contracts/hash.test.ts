import { describe, expect, it } from 'vitest';
import { createSha256 } from '../../adapters/hash/sha256.ts';
import { createRecordingHash } from '../fakes/hash.ts';
import { brokenHashes } from './hash.broken.ts';
import { type HashHarness, hashSuite } from './hash.suite.ts';

const subjects: Readonly<Record<string, HashHarness>> = {
  'the system hash': { make: createSha256 },
  'the recording hash': { make: createRecordingHash },
};

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a hash`, () => {
    for (const { id, sentence, run } of hashSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a hash', () => {
  for (const { name, caughtBy, harness } of brokenHashes) {
    it(`rejects one that ${name} (${caughtBy})`, async () => {
      const found = hashSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken subject for each of its cases', () => {
    const caught = new Set(brokenHashes.map(({ caughtBy }) => caughtBy));
    expect(hashSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
