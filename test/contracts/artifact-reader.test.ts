import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createArtifactFiles } from '../../adapters/artifacts/disk.ts';
import { createArtifactDesk } from '../../core/artifacts/desk.ts';
import { createMemoryArtifactLedger } from '../fakes/artifacts.ts';
import { brokenArtifactReaders, memoryReaderHarness } from './artifact-reader.broken.ts';
import { type ArtifactReaderHarness, artifactReaderSuite } from './artifact-reader.suite.ts';

const onDisk: ArtifactReaderHarness = {
  async make() {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'odek-reader-')));
    const root = join(folder, 'art');
    await mkdir(root);
    const desk = createArtifactDesk({ files: createArtifactFiles(), ledger: createMemoryArtifactLedger() });
    return {
      reader: desk,
      session: 's-1',
      async add(id, content) {
        const path = join(root, `file-of-${id}`);
        await writeFile(path, content);
        const origin = { session: 's-1', source: 'mcp:a:b', roots: [root], signal: new AbortController().signal };
        await desk.accept([{ id, path, mediaType: 'text/plain' }], origin);
        return path;
      },
      overwrite: (path, content) => writeFile(path, content),
      remove: (path) => rm(path),
      async moveOut(path) {
        await writeFile(join(folder, 'outside'), 'abc');
        await rm(path);
        await symlink(join(folder, 'outside'), path);
      },
      close: () => rm(folder, { recursive: true, force: true }),
    };
  },
};

for (const [name, harness] of Object.entries({ 'the desk over the disk': onDisk, 'the desk over memory': memoryReaderHarness() })) {
  describe(`${name} keeps the contract of an artifact reader`, () => {
    for (const { id, sentence, run } of artifactReaderSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of an artifact reader', () => {
  it.each(brokenArtifactReaders)('rejects one that $name ($caughtBy)', async ({ caughtBy, harness }) => {
    const found = artifactReaderSuite.cases.find(({ id }) => id === caughtBy);
    await expect(found?.run(harness)).rejects.toThrow();
  });

  it('has a broken reader for each of its cases', () => {
    const caught = new Set(brokenArtifactReaders.map(({ caughtBy }) => caughtBy));
    expect(artifactReaderSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
