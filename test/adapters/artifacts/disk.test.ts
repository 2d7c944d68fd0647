import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createArtifactFiles } from '../../../adapters/artifacts/disk.ts';
import { isOdekError } from '../../../ports/errors.ts';

const MIB = 1024 * 1024;
let folder = '';
let root = '';
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'odek-artifact-')));
  root = join(folder, 'root');
  await mkdir(root);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const lookup = (path: string, maxBytes = 64 * MIB) => ({ path, roots: [root], maxBytes, signal: new AbortController().signal });

describe('artifacts on the file system', () => {
  it('are measured and paged without memory for more than a page', async () => {
    const path = join(root, 'large');
    await writeFile(path, '');
    await truncate(path, 64 * MIB);
    const files = createArtifactFiles();
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }, 1);
    const { sizeBytes, sha256 } = await files.measure(lookup(path));
    const page = await files.page({ ...lookup(path), sha256, offset: 63 * MIB, length: 65_536 });
    clearInterval(watch);
    expect(sizeBytes).toBe(64 * MIB);
    expect(page).toHaveLength(65_536);
    expect(most).toBeLessThan(8 * MIB);
  });

  it('are left within a chunk once the signal fires', async () => {
    const path = join(root, 'large');
    await writeFile(path, '');
    await truncate(path, 64 * MIB);
    const stop = new AbortController();
    const measuring = createArtifactFiles().measure({ ...lookup(path), signal: stop.signal });
    setTimeout(() => stop.abort(), 1);
    await expect(measuring).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('give no byte of a file outside while a link is swapped under them', async () => {
    const secret = 'secret of somebody else';
    await mkdir(join(folder, 'outside'));
    await writeFile(join(folder, 'outside', 'f'), secret);
    await mkdir(join(root, 'real'));
    await writeFile(join(root, 'real', 'f'), 'harmless');
    const [good, bad, way] = [join(folder, 'good'), join(folder, 'bad'), join(root, 'way')];
    const files = createArtifactFiles();
    const own = createHash('sha256').update('harmless').digest('hex');
    let running = true;
    const swapping = (async () => {
      while (running) {
        await symlink(join(root, 'real'), good);
        await rename(good, way);
        await symlink(join(folder, 'outside'), bad);
        await rename(bad, way);
      }
    })();
    const seen = new Set<string>();
    for (let turn = 0; turn < 300; turn += 1) {
      const found = await files.measure(lookup(join(way, 'f'))).then(
        ({ sha256 }) => sha256,
        (error: unknown) => (isOdekError(error) ? error.code : `not typed: ${String(error)}`),
      );
      seen.add(found);
    }
    running = false;
    await swapping;
    seen.delete(own);
    for (const each of seen) expect(['artifact_outside_roots', 'artifact_changed', 'artifact_missing']).toContain(each);
  }, 30_000);

  it('are missing where a name is longer than any can be, and no error says where', async () => {
    const error = await createArtifactFiles()
      .measure(lookup(join(root, 'x'.repeat(300))))
      .catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: 'artifact_missing' });
    expect((error as Error).message).not.toContain(root);
  });
});
