import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createArtifactFiles } from '../../adapters/artifacts/disk.ts';
import { brokenArtifactFiles, memoryFilesHarness } from './artifact-files.broken.ts';
import { type ArtifactFilesHarness, artifactFilesSuite } from './artifact-files.suite.ts';

const onDisk: ArtifactFilesHarness = {
  async make() {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'odek-artifacts-')));
    const [root, outside] = [join(folder, 'root'), join(folder, 'outside')];
    for (const each of [root, outside]) await mkdir(each);
    return {
      files: createArtifactFiles(),
      root,
      outside,
      async put(path, content) {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, content);
      },
      link: (path, target) => symlink(target, path),
      folder: async (path) => void (await mkdir(path)),
      pipe: async (path) => void execFileSync('mkfifo', [path]),
      close: () => rm(folder, { recursive: true, force: true }),
    };
  },
};

for (const [name, harness] of Object.entries({ 'the file system': onDisk, 'files in memory': memoryFilesHarness() })) {
  describe(`${name} keeps the contract of artifact files`, () => {
    for (const { id, sentence, run } of artifactFilesSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of artifact files', () => {
  it.each(brokenArtifactFiles)('rejects an adapter that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = artifactFilesSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });

  it('has a broken adapter for each of its cases', () => {
    const caught = new Set(brokenArtifactFiles.map(({ caughtBy }) => caughtBy));
    expect(artifactFilesSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
