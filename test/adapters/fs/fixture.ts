import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createDiskFileSystem, type DiskFileSystemOptions } from '../../../adapters/fs/disk.ts';
import type { FileSystemPlace } from '../../contracts/file-system.suite.ts';

/** A temporary folder with a root, an outside and a state folder side by side. */
export async function diskPlace(options: Pick<DiskFileSystemOptions, 'checked'> = {}): Promise<FileSystemPlace> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'odek-fs-')));
  const [root, outside, stateDir] = ['root', 'outside', 'state'].map((name) => join(base, name)) as [string, string, string];
  await Promise.all([mkdir(root), mkdir(outside)]);
  return {
    fs: createDiskFileSystem({ root, stateDir, ...options }),
    root,
    outside,
    stateDir,
    async special() {
      execFileSync('mkfifo', [join(root, 'special')]);
      return join(root, 'special');
    },
    async put(path, content, mode) {
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, content);
      if (mode !== undefined) await chmod(path, mode);
    },
    link: (path, target) => symlink(target, path),
    content: (path) => readFile(path, 'utf8').catch(() => undefined),
    mode: (path) =>
      stat(path).then(
        (stats) => stats.mode & 0o777,
        () => undefined,
      ),
    close: () => rm(base, { recursive: true, force: true }),
  };
}
