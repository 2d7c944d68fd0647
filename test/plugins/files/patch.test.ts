import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { replacementDiff } from '../../../plugins/files/diff.ts';
import { memoryTools } from './fixture.ts';

describe('patch', () => {
  it('replaces the first occurrence, shows the diff and tells of the others', async () => {
    const { fs, call } = memoryTools();
    fs.put('a.txt', 'one\ntwo\nthree\nfour\nfive\ntwo\n');
    const { value, source } = await call('patch', { path: 'a.txt', old_string: 'two', new_string: '2' });
    expect(fs.content('a.txt')).toBe('one\n2\nthree\nfour\nfive\ntwo\n');
    expect(value).toEqual({
      success: true,
      diff: '@@ -1,5 +1,5 @@\n one\n-two\n+2\n three\n four\n five',
      note: '1 more occurrence(s) of old_string were left; replace_all replaces them too',
    });
    expect(source).toBe('patch:a.txt');
  });

  it('replaces everything with replace_all', async () => {
    const { fs, call } = memoryTools();
    fs.put('a.txt', 'x = x + x');
    expect((await call('patch', { path: 'a.txt', old_string: 'x', new_string: 'y$&', replace_all: true })).value.success).toBe(true);
    expect(fs.content('a.txt')).toBe('y$& = y$& + y$&');
  });

  it('deletes the text when new_string is absent', async () => {
    const { fs, call } = memoryTools();
    fs.put('a.txt', 'keep\ndrop\n');
    await call('patch', { path: 'a.txt', old_string: 'drop\n' });
    expect(fs.content('a.txt')).toBe('keep\n');
  });

  it('keeps Windows line ends, a byte order mark and the mode', async () => {
    const { fs, call } = memoryTools();
    fs.put('a.txt', '\ufeffone\r\ntwo\r\n', { mode: 0o755 });
    await call('patch', { path: 'a.txt', old_string: 'one\ntwo', new_string: '1\n2' });
    expect([fs.content('a.txt'), fs.mode('a.txt')]).toEqual([
      new TextDecoder().decode(new TextEncoder().encode('\ufeff1\r\n2\r\n')),
      0o755,
    ]);
    expect((await fs.read('a.txt', { maxBytes: 3 })).bytes).toEqual(new Uint8Array([0xef, 0xbb, 0xbf]));
  });

  it('says where the text almost is when it is not found', async () => {
    const { fs, call } = memoryTools();
    fs.put('a.txt', 'one\n    two\nthree\n');
    const refused = await call('patch', { path: 'a.txt', old_string: '  two\nfour', new_string: 'x' });
    expect(refused).toMatchObject({ failed: true, value: { error: expect.stringContaining('resembles line 2') } });
    expect((await call('patch', { path: 'a.txt', old_string: 'nowhere', new_string: 'x' })).value.error).not.toContain('resembles');
  });

  it('refuses a change that changes nothing, a binary file and one that is not UTF-8', async () => {
    const { fs, call } = memoryTools();
    fs.put('a.txt', 'x');
    fs.put('binary', new Uint8Array([0, 1]));
    fs.put('latin', new Uint8Array([0xe9, 0x61]));
    expect((await call('patch', { path: 'a.txt', old_string: 'x', new_string: 'x' })).value.error).toContain('nothing would change');
    expect((await call('patch', { path: 'binary', old_string: 'x', new_string: 'y' })).value.error).toContain('not UTF-8');
    expect((await call('patch', { path: 'latin', old_string: 'a', new_string: 'b' })).value.error).toContain('not UTF-8');
  });

  it('refuses a file over 10 MiB, and one that would become so', async () => {
    const { fs, call } = memoryTools();
    fs.put('big', 'a'.repeat(10 * 1024 * 1024 + 1));
    fs.put('fits', 'a'.repeat(10 * 1024 * 1024));
    expect((await call('patch', { path: 'big', old_string: 'a', new_string: 'b' })).value.error).toContain('the limit is 10485760');
    expect((await call('patch', { path: 'fits', old_string: 'a', new_string: 'bb' })).value.error).toContain('would be 10485761 bytes');
  });
});

describe('the diff of a replacement', () => {
  /** Applies a unified diff to whole lines. */
  function applyDiff(text: string, diff: string): string {
    const lines = text.split('\n');
    const result: string[] = [];
    let at = 0;
    for (const line of diff.split('\n')) {
      const header = /^@@ -(\d+),/.exec(line);
      if (header) {
        const start = Number(header[1]) - 1;
        result.push(...lines.slice(at, start));
        at = start;
      } else if (line.startsWith('+')) result.push(line.slice(1));
      else {
        expect(lines[at]).toBe(line.slice(1));
        if (line.startsWith(' ')) result.push(lines[at] ?? '');
        at += 1;
      }
    }
    return [...result, ...lines.slice(at)].join('\n');
  }

  it('turns the old text into the new one', () => {
    const line = fc.constantFrom('a', 'b', 'ab', '', 'c c');
    const property = fc.property(
      fc.array(line, { minLength: 1, maxLength: 60 }),
      fc.constantFrom('a', 'b', 'c'),
      fc.constantFrom('X', 'Y\nZ', ''),
      (lines, old, replacement) => {
        const text = `${lines.join('\n')}\nend\n`;
        const positions = [...text.matchAll(new RegExp(old, 'g'))].map((match) => match.index);
        const { result, diff } = replacementDiff(text, old, replacement, positions);
        expect(result).toBe(text.replaceAll(old, replacement));
        expect(diff === '' ? text : applyDiff(text, diff)).toBe(result);
      },
    );
    fc.assert(property, { numRuns: 500 });
  });

  it('is cut at 64 KiB', () => {
    const text = 'word\n'.repeat(100_000);
    const { diff } = replacementDiff(
      text,
      'word',
      'w',
      Array.from({ length: 100_000 }, (_, index) => index * 5),
    );
    expect(diff.length).toBeLessThan(66_000);
    expect(diff.endsWith('(diff cut)')).toBe(true);
  });
});
