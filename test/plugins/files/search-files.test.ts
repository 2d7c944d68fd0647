import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasCode } from '../../../ports/errors.ts';
import { diskPlace } from '../../adapters/fs/fixture.ts';
import { fileTools, memoryTools, noise } from './fixture.ts';

describe('search_files in contents', () => {
  it('finds lines, newest file first', async () => {
    const { fs, call } = memoryTools();
    fs.put('old.ts', 'alpha\r\nbeta\r\n', { modifiedAt: 1000 });
    fs.put('new.ts', 'x\nalphabet\n', { modifiedAt: 2000 });
    expect((await call('search_files', { pattern: '^alpha' })).value).toEqual({
      matches: [
        { path: 'new.ts', line: 2, content: 'alphabet' },
        { path: 'old.ts', line: 1, content: 'alpha' },
      ],
      skipped: [],
    });
  });

  it('leaves out hidden and build folders, links and binary files', async () => {
    const { fs, call } = memoryTools();
    for (const path of [
      '.git/a',
      'node_modules/a',
      'vendor/a',
      '__pycache__/a',
      'target/a',
      'dist/a',
      'build/a',
      '.next/a',
      '.venv/a',
      'src/a',
    ])
      fs.put(path, 'needle');
    fs.put('binary', 'needle\0');
    fs.put('/outside/a', 'needle');
    fs.link('out', '/outside');
    fs.link('link', 'src/a');
    expect((await call('search_files', { pattern: 'needle' })).value).toEqual({
      matches: [{ path: 'src/a', line: 1, content: 'needle' }],
      skipped: [],
    });
  });

  it('never looks into credential files, whether they match or not', async () => {
    const { fs, call } = memoryTools();
    fs.put('.env', 'KEY=needle');
    fs.put('deploy/id_rsa', 'something else');
    expect((await call('search_files', { pattern: 'needle' })).value).toEqual({
      matches: [],
      skipped: ['.env: credential file', 'deploy/id_rsa: credential file'],
    });
  });

  it('cuts a long line, but no word of it: half of a secret could not be told from other text', async () => {
    const { fs, call } = memoryTools();
    const secret = 'tok-0123456789abcdef';
    const shown = async (line: string): Promise<string | undefined> => {
      fs.put('a.txt', line);
      const { matches } = (await call('search_files', { pattern: 'needle' })).value as { matches: { content: string }[] };
      return matches[0]?.content;
    };
    for (const before of [480, 490, 499, 500]) {
      const head = `needle ${'x'.repeat(before - 8)} `;
      expect(await shown(`${head}${secret} tail`)).toBe(`${head}${secret}…`);
      expect(await shown(`${head}${secret}`)).toBe(`${head}${secret}`);
      const code = `needle${'x('.repeat(400)}`.slice(0, before);
      expect(await shown(`${code}"${secret}"${'(y'.repeat(2000)}`)).toBe(before === 500 ? `${code}…` : `${code}"${secret}…`);
    }
  });

  it('takes a glob of files, a folder or a single file', async () => {
    const { fs, call } = memoryTools();
    for (const path of ['a.ts', 'a.md', 'src/b.ts']) fs.put(path, 'needle');
    const found = async (input: object) =>
      (await call('search_files', { pattern: 'needle', ...input })).value.matches.map(({ path }: { path: string }) => path).sort();
    expect(await found({ file_glob: '*.ts' })).toEqual(['a.ts', 'src/b.ts']);
    expect(await found({ file_glob: 'src/*.ts' })).toEqual(['src/b.ts']);
    expect(await found({ path: 'src' })).toEqual(['src/b.ts']);
    expect(await found({ path: 'a.md' })).toEqual(['a.md']);
  });

  it('stops at its limit and says so: 50 by default, 500 at most', async () => {
    const { fs, call } = memoryTools();
    fs.put('a', 'needle\n'.repeat(2000));
    const { value } = await call('search_files', { pattern: 'needle' });
    expect([value.matches.length, value.note]).toEqual([50, 'stopped at 50 matches; there may be more']);
    expect((await call('search_files', { pattern: 'needle', limit: 9999 })).value.matches).toHaveLength(500);
  });

  it('shortens long lines', async () => {
    const { fs, call } = memoryTools();
    fs.put('min.js', `${'x'.repeat(10_000)}needle`);
    expect((await call('search_files', { pattern: 'needle$' })).value.matches[0].content).toBe(`${'x'.repeat(500)}…`);
  });

  it('searches the first 4 MiB of a file and says what is left', async () => {
    const { fs, call } = memoryTools();
    fs.put('huge', `${'x\n'.repeat(2 * 1024 * 1024)}needle\n`);
    expect((await call('search_files', { pattern: 'needle' })).value).toEqual({
      matches: [],
      skipped: ['huge: only the first 4194304 of 4194311 bytes were searched'],
    });
  });

  it('gives up on a file that the pattern is too costly for, and says so', async () => {
    const { fs, call } = memoryTools();
    fs.put('noise', noise(200_000));
    fs.put('plain', 'abc');
    const { value } = await call('search_files', { pattern: '(?:a|b)*a(?:a|b){300}c|^abc$' });
    expect(value.skipped).toEqual(['noise: not searched to its end, the pattern is too costly on it']);
    expect(value.matches).toHaveLength(1);
  });

  it('explains a pattern that it cannot use', async () => {
    const { call } = memoryTools();
    expect(await call('search_files', { pattern: '(unclosed' })).toMatchObject({
      failed: true,
      value: { error: 'pattern cannot be used: missing ")"; write "\\(" for the character itself' },
    });
    expect((await call('search_files', { pattern: 'a', file_glob: 'x'.repeat(600) })).failed).toBe(true);
  });
});

describe('search_files by name', () => {
  it('takes a glob or a part of the name, newest first', async () => {
    const { fs, call } = memoryTools();
    fs.put('src/user-service.ts', '', { modifiedAt: 1000 });
    fs.put('docs/User.md', '', { modifiedAt: 2000 });
    const found = async (pattern: string, limit?: number) =>
      (await call('search_files', { pattern, target: 'files', ...(limit === undefined ? {} : { limit }) })).value;
    expect((await found('*.ts')).matches).toEqual([{ path: 'src/user-service.ts' }]);
    expect((await found('user')).matches).toEqual([{ path: 'docs/User.md' }, { path: 'src/user-service.ts' }]);
    expect(await found('user', 1)).toEqual({ matches: [{ path: 'docs/User.md' }], skipped: [], note: '1 more files match' });
  });
});

describe('search_files on disk', () => {
  it('finds lines in a folder of many files, and stops when its signal fires', async () => {
    const place = await diskPlace();
    try {
      for (let folder = 0; folder < 20; folder += 1) {
        await mkdir(join(place.root, `f${folder}`));
        await Promise.all(
          Array.from({ length: 50 }, (_, index) => writeFile(join(place.root, `f${folder}/${index}.txt`), `text ${folder} ${index}\n`)),
        );
      }
      await utimes(join(place.root, 'f7/7.txt'), new Date(), new Date(Date.now() + 60_000));
      const { call } = fileTools(place.fs);
      const { value } = await call('search_files', { pattern: 'text \\d+ 7$', limit: 100 });
      expect(value.matches).toHaveLength(20);
      expect(value.matches[0]).toEqual({ path: 'f7/7.txt', line: 1, content: 'text 7 7' });
      const controller = new AbortController();
      const searching = call('search_files', { pattern: 'nothing' }, controller.signal);
      setImmediate(() => controller.abort());
      await expect(searching).rejects.toSatisfy((error) => hasCode(error, 'cancelled'));
    } finally {
      await place.close();
    }
  });

  it('reads below an approved folder outside the root', async () => {
    const place = await diskPlace();
    try {
      await place.put(join(place.outside, 'a/b.txt'), 'needle');
      const { value } = await fileTools(place.fs).call('search_files', { pattern: 'needle', path: place.outside });
      expect(value.matches).toEqual([{ path: join(place.outside, 'a/b.txt'), line: 1, content: 'needle' }]);
    } finally {
      await place.close();
    }
  });
});
