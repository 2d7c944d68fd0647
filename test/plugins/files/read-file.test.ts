import { describe, expect, it } from 'vitest';
import { memoryTools } from './fixture.ts';

const numbered = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`).join('\n');

describe('read_file', () => {
  it('numbers lines and counts them', async () => {
    const { fs, call } = memoryTools();
    fs.put('a.txt', 'one\r\ntwo\nthree\n');
    expect(await call('read_file', { path: 'a.txt' })).toEqual({
      value: { content: '1|one\n2|two\n3|three', total_lines: 3 },
      failed: false,
      source: '/project/a.txt',
    });
  });

  it('gives 500 lines by default and 2000 at most, from the offset on', async () => {
    const { fs, call } = memoryTools();
    fs.put('long.txt', numbered(1, 3000));
    const lines = async (input: object) => (await call('read_file', { path: 'long.txt', ...input })).value.content.split('\n') as string[];
    expect((await lines({})).length).toBe(500);
    expect((await lines({ limit: 9999 })).length).toBe(2000);
    expect(await lines({ offset: 2999 })).toEqual(['2999|line 2999', '3000|line 3000']);
  });

  it('says how many lines there are when the offset lies past the end', async () => {
    const { fs, call } = memoryTools();
    fs.put('a.txt', 'one\n');
    expect(await call('read_file', { path: 'a.txt', offset: 2 })).toMatchObject({
      failed: true,
      value: { error: 'offset 2 is past the end: a.txt has 1 lines' },
    });
  });

  it('reads an empty file as no lines', async () => {
    const { fs, call } = memoryTools();
    fs.put('empty', '');
    expect((await call('read_file', { path: 'empty' })).value).toEqual({ content: '', total_lines: 0 });
  });

  it('refuses a binary file', async () => {
    const { fs, call } = memoryTools();
    fs.put('image', new Uint8Array([137, 80, 0, 1]));
    expect(await call('read_file', { path: 'image' })).toMatchObject({
      failed: true,
      value: { error: expect.stringContaining('binary file of 4 bytes') },
    });
  });

  it('returns at most 1 MiB of lines and says where it cut', async () => {
    const { fs, call } = memoryTools();
    fs.put('wide.txt', Array.from({ length: 100 }, () => '"'.repeat(20_000)).join('\n'));
    const { value } = await call('read_file', { path: 'wide.txt' });
    expect(JSON.stringify(value).length).toBeLessThan(1_100_000);
    expect(value.note).toMatch(/^cut at line \d+/);
    fs.put('one-line.txt', '\u0001'.repeat(3_000_000));
    const only = await call('read_file', { path: 'one-line.txt' });
    expect(JSON.stringify(only.value).length).toBeLessThan(1_100_000);
  });

  it('says what it did not look at in a file over 10 MiB', async () => {
    const { fs, call } = memoryTools();
    fs.put('huge.txt', 'x\n'.repeat(5 * 1024 * 1024 + 10));
    expect((await call('read_file', { path: 'huge.txt', limit: 1 })).value.note).toContain('the last 20 bytes');
  });

  it('throws what the file system says about a missing file', async () => {
    await expect(memoryTools().call('read_file', { path: 'missing' })).rejects.toMatchObject({ code: 'not_found' });
  });
});
