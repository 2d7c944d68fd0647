import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createDiskFileSystem } from '../../../adapters/fs/disk.ts';
import { hasCode } from '../../../ports/errors.ts';
import { inspectTools, memoryTools } from './fixture.ts';

function tools() {
  const all = memoryTools();
  for (const path of ['src/a.ts', 'src/deep/er/b.ts', '.git/config', 'node_modules/x/index.js', 'top.md']) all.fs.put(path, 'text');
  return all;
}

interface Shown {
  readonly path: string;
  readonly children?: readonly Shown[];
}

const pathsIn = (node: Shown): string[] => [node.path, ...(node.children ?? []).flatMap(pathsIn)];

describe('tree', () => {
  it('nests what is there, and counts files and bytes to the bottom of each folder', async () => {
    const { value, source } = await tools().call('tree', { max_depth: 2 });
    expect(source).toBe('tree:.');
    expect(value).toEqual({
      path: '.',
      is_dir: true,
      file_count: 3,
      total_size: 12,
      depth: 0,
      children: [
        {
          path: 'src',
          is_dir: true,
          file_count: 2,
          total_size: 8,
          depth: 1,
          children: [
            { path: 'src/a.ts', is_dir: false, file_count: 1, total_size: 4, depth: 2 },
            { path: 'src/deep', is_dir: true, file_count: 1, total_size: 4, depth: 2 },
          ],
        },
        { path: 'top.md', is_dir: false, file_count: 1, total_size: 4, depth: 1 },
      ],
    });
  });

  it('lists three levels by default, ten at most', async () => {
    const { fs, call } = memoryTools();
    fs.put(`${Array.from({ length: 15 }, (_, at) => `d${at}`).join('/')}/file`, 'x');
    expect(pathsIn((await call('tree', {})).value)).toHaveLength(4);
    expect(pathsIn((await call('tree', { max_depth: 99 })).value)).toHaveLength(11);
  });

  it('shows hidden and generated folders when it is asked to', async () => {
    const paths = pathsIn((await tools().call('tree', { include_hidden: true })).value);
    expect(paths).toContain('.git/config');
    expect(paths).toContain('node_modules/x/index.js');
  });

  it('lists 1000 entries of a folder and counts the others', async () => {
    const { fs, call } = memoryTools();
    for (let at = 0; at < 1205; at += 1) fs.put(`many/${at}`, 'x');
    const [many] = (await call('tree', {})).value.children;
    expect([many.children.length, many.omitted, many.file_count, many.total_size]).toEqual([1000, 205, 1205, 1205]);
  });

  it('keeps a result of many entries to its limit and says so', async () => {
    const { fs, call } = memoryTools();
    const long = 'x'.repeat(200);
    for (let at = 0; at < 4500; at += 1) fs.put(`d${at % 9}/${at}-${long}`, 'x');
    const { value, chars } = await call('tree', {});
    expect(chars).toBeLessThanOrEqual(1_200_000);
    expect(value.note).toContain('list a smaller folder');
    expect(value.file_count).toBe(4500);
  }, 60_000);

  it('fails for a file, and stops when its signal fires', async () => {
    expect(await tools().call('tree', { path: 'top.md' })).toMatchObject({
      failed: true,
      value: { error: expect.stringContaining('not a folder') },
    });
    await expect(tools().call('tree', {}, AbortSignal.abort())).rejects.toSatisfy((error) => hasCode(error, 'cancelled'));
  });

  it('does not follow a link out of the folder on a real disk', async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'odek-tree-')));
    try {
      await mkdir(join(root, 'inside'));
      await writeFile(join(root, 'inside', 'file'), 'x');
      await symlink('/etc', join(root, 'inside', 'out'));
      const { call } = inspectTools(createDiskFileSystem({ root, stateDir: join(root, '..', 'state') }));
      expect(pathsIn((await call('tree', {})).value)).toEqual(['.', 'inside', 'inside/file', 'inside/out']);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });
});
