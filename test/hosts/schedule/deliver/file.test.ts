import { link, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { appendToFile, isInside } from '../../../../hosts/schedule/deliver/file.ts';

let root: string;
let work: string;
let state: string;

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'odek-deliver-')));
  [work, state] = [join(root, 'work'), join(root, 'work', '.state')];
  await mkdir(state, { recursive: true });
  await mkdir(join(root, 'outside'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const append = (path: string, text = 'text\n') => appendToFile(path, text, { folders: [work], forbidden: [state] });

describe('a file for results', () => {
  it('is made for its owner alone and appended to', async () => {
    const path = join(work, 'out.md');
    await append(path, 'one\n');
    await append(path, 'two\n');
    expect(await readFile(path, 'utf8')).toBe('one\ntwo\n');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('may lie in a folder that is reached by a link, but in none below it that is one', async () => {
    await symlink(work, join(root, 'alias'));
    await appendToFile(join(root, 'alias', 'out.md'), 'x', { folders: [join(root, 'alias')], forbidden: [] });
    expect(await readFile(join(work, 'out.md'), 'utf8')).toBe('x');
    await symlink(join(root, 'outside'), join(work, 'sub'));
    await expect(append(join(work, 'sub', 'out.md'))).rejects.toMatchObject({
      retry: false,
      message: expect.stringContaining('is a link'),
    });
  });

  it('is no link, no folder and no file with a second name', async () => {
    await writeFile(join(root, 'outside', 'target'), '');
    await symlink(join(root, 'outside', 'target'), join(work, 'link'));
    await link(join(root, 'outside', 'target'), join(work, 'hard'));
    await mkdir(join(work, 'folder'));
    for (const name of ['link', 'hard', 'folder']) await expect(append(join(work, name))).rejects.toMatchObject({ retry: false });
    expect(await readFile(join(root, 'outside', 'target'), 'utf8')).toBe('');
  });

  it('lies in a folder that was named, and not among what is odek’s own', async () => {
    await expect(append(join(root, 'outside', 'out.md'))).rejects.toMatchObject({ retry: false });
    await expect(append(`${work}/../outside/out.md`)).rejects.toMatchObject({ retry: false });
    await expect(append(join(state, 'config.json'))).rejects.toMatchObject({ message: expect.stringContaining('which is odek') });
    await expect(append(work)).rejects.toMatchObject({ retry: false });
  });

  it('whose folder is not there yet may be written later', async () => {
    await expect(append(join(work, 'later', 'out.md'))).rejects.toMatchObject({
      retry: true,
      message: expect.stringContaining('not there'),
    });
  });
});

it('a path is inside a folder by its parts, not by its letters', () => {
  expect([isInside('/a/b', '/a'), isInside('/a', '/a'), isInside('/ab', '/a'), isInside('/a/../b', '/a'), isInside('/', '/a')]).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
