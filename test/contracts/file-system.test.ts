import { describe, expect, it } from 'vitest';
import { diskPlace } from '../adapters/fs/fixture.ts';
import { brokenFileSystems, memoryPlace } from './file-system.broken.ts';
import { fileSystemSuite } from './file-system.suite.ts';

const subjects = {
  'the disk': { place: () => diskPlace() },
  'the memory file system': { place: async () => memoryPlace() },
};

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a file system`, () => {
    for (const { id, sentence, run } of fileSystemSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a file system', () => {
  for (const { name, caughtBy, harness } of brokenFileSystems) {
    it(`rejects a file system that ${name} (${caughtBy})`, async () => {
      const found = fileSystemSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken file system for each of its cases', () => {
    const caught = new Set(brokenFileSystems.map(({ caughtBy }) => caughtBy));
    expect(fileSystemSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
