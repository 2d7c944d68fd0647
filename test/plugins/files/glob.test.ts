import { describe, expect, it } from 'vitest';
import { hasCode } from '../../../ports/errors.ts';
import { memoryTools } from './fixture.ts';

function tools() {
  const all = memoryTools();
  for (const path of ['src/a.ts', 'src/deep/b.ts', 'src/c.md', 'node_modules/x/d.ts', '.github/ci.yml', 'dist/e.ts', 'top.ts'])
    all.fs.put(path, 'text');
  return all;
}

const pathsOf = (value: readonly { path: string }[]) => value.map(({ path }) => path);

describe('glob', () => {
  it('finds files in path order, without hidden and build folders', async () => {
    expect((await tools().call('glob', { pattern: '**/*.ts' })).value).toEqual([
      { path: 'src/a.ts', size: 4, is_dir: false },
      { path: 'src/deep/b.ts', size: 4, is_dir: false },
      { path: 'top.ts', size: 4, is_dir: false },
    ]);
  });

  it('enters what the pattern names', async () => {
    expect(pathsOf((await tools().call('glob', { pattern: 'node_modules/**/*.ts' })).value)).toEqual(['node_modules/x/d.ts']);
    expect(pathsOf((await tools().call('glob', { pattern: '.github/*' })).value)).toEqual(['.github/ci.yml']);
  });

  it('starts in path, returns paths that work in the next call, and marks folders', async () => {
    expect((await tools().call('glob', { pattern: '*', path: './src/' })).value).toEqual([
      { path: 'src/a.ts', size: 4, is_dir: false },
      { path: 'src/c.md', size: 4, is_dir: false },
      { path: 'src/deep', size: 0, is_dir: true },
    ]);
    expect(pathsOf((await tools().call('glob', { pattern: '*.md', path: '/project/src' })).value)).toEqual(['/project/src/c.md']);
  });

  it('stops at its limit: 50 by default, 1000 at most', async () => {
    const { fs, call } = memoryTools();
    for (let index = 0; index < 1100; index += 1) fs.put(`many/${index}`, '');
    expect((await call('glob', { pattern: 'many/*' })).value).toHaveLength(50);
    expect((await call('glob', { pattern: 'many/*', limit: 5000 })).value).toHaveLength(1000);
  });

  it.each(['/etc/*', '../*', 'a/../../b'])('refuses %s', async (pattern) => {
    expect(await tools().call('glob', { pattern })).toMatchObject({ failed: true, value: { error: expect.stringContaining('relative') } });
  });

  it('stops when its signal fires', async () => {
    await expect(tools().call('glob', { pattern: '**' }, AbortSignal.abort())).rejects.toSatisfy((error) => hasCode(error, 'cancelled'));
  });
});
