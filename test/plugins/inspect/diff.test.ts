import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { diffLines, type Hunk } from '../../../plugins/inspect/diff-lines.ts';
import { memoryTools } from './fixture.ts';

function applied(before: readonly string[], hunks: readonly Hunk[]): readonly string[] {
  const after: string[] = [];
  let at = 0;
  for (const hunk of hunks) {
    while (at < hunk.old_start - 1) after.push(before[at++] as string);
    expect(after.length).toBe(hunk.new_start - 1);
    const old = hunk.lines.filter((line) => !line.startsWith('+')).map((line) => line.slice(1));
    expect(before.slice(at, at + hunk.old_lines)).toEqual(old);
    const fresh = hunk.lines.filter((line) => !line.startsWith('-')).map((line) => line.slice(1));
    expect(fresh.length).toBe(hunk.new_lines);
    after.push(...fresh);
    at += hunk.old_lines;
  }
  return [...after, ...before.slice(at)];
}

describe('the line diff', () => {
  it('leads from one text to the other, whatever they are', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 30 });
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const difference = diffLines(before, after);
        if (typeof difference === 'string') throw new Error(difference);
        expect(applied(before, difference.hunks)).toEqual(after);
        expect(after.length - before.length).toBe(difference.added - difference.removed);
        if (before.join('\n') === after.join('\n') && before.length === after.length) expect(difference.hunks).toEqual([]);
      }),
    );
  });

  it('finds the fewest changes', () => {
    expect(diffLines(['a', 'b', 'c', 'd'], ['b', 'c', 'x', 'd'])).toMatchObject({ added: 1, removed: 1 });
  });
});

describe('diff', () => {
  it('compares two files with three lines around each change', async () => {
    const { fs, call } = memoryTools();
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at + 1}`);
    fs.put('a', `${lines.join('\n')}\n`);
    fs.put('b', `${lines.with(9, 'changed').join('\n')}\n`);
    expect(await call('diff', { path_a: 'a', path_b: 'b' })).toMatchObject({
      source: 'diff:a..b',
      value: {
        identical: false,
        added: 1,
        removed: 1,
        hunks: [
          {
            old_start: 7,
            old_lines: 7,
            new_start: 7,
            new_lines: 7,
            lines: [' line 7', ' line 8', ' line 9', '-line 10', '+changed', ' line 11', ' line 12', ' line 13'],
          },
        ],
      },
    });
  });

  it('compares a file with a text, and knows equal ones', async () => {
    const { fs, call } = memoryTools();
    fs.put('a', 'one\ntwo\n');
    expect((await call('diff', { path: 'a', content: 'one\ntwo\n' })).value).toEqual({ identical: true, added: 0, removed: 0, hunks: [] });
    expect((await call('diff', { path: 'a', content: 'one\n' })).value).toMatchObject({ identical: false, added: 0, removed: 1 });
  });

  it('tells a missing line end and another kind of line end from no difference', async () => {
    const { fs, call } = memoryTools();
    fs.put('a', 'one\n');
    expect((await call('diff', { path: 'a', content: 'one' })).value).toMatchObject({
      identical: false,
      hunks: [],
      note: expect.stringContaining('line end'),
    });
    expect((await call('diff', { path: 'a', content: 'one\r\n' })).value.hunks[0].lines).toEqual(['-one', '+one\r']);
  });

  it.each([{}, { path_a: 'a' }, { path: 'a' }, { content: 'x' }, { path_a: 'a', path_b: 'a', path: 'a', content: 'x' }])(
    'says how it is used for %o',
    async (input) => {
      const { fs, call } = memoryTools();
      fs.put('a', 'x');
      expect(await call('diff', input)).toMatchObject({ failed: true, value: { error: 'give path_a and path_b, or path and content' } });
    },
  );

  it('refuses binary files, more than 10,000 lines and more than 4,000,000 cells, and names the limit', async () => {
    const { fs, call } = memoryTools();
    fs.put('bin', new Uint8Array([0, 1]));
    fs.put('text', 'x\n');
    fs.put('long', 'x\n'.repeat(10_001));
    fs.put('left', Array.from({ length: 2001 }, (_, at) => `l${at}\n`).join(''));
    fs.put('right', Array.from({ length: 2000 }, (_, at) => `r${at}\n`).join(''));
    fs.put('big', 'x'.repeat(10 * 1024 * 1024 + 1));
    const error = async (a: string, b: string) => (await call('diff', { path_a: a, path_b: b })).value.error;
    expect(await error('bin', 'text')).toContain('binary');
    expect(await error('long', 'text')).toContain('at most 10000');
    expect(await error('left', 'right')).toContain('more than 4000000 cells');
    expect(await error('text', 'big')).toContain('10485760');
    expect((await call('diff', { path: 'text', content: 'x'.repeat(10 * 1024 * 1024 + 1) })).value.error).toContain('10485760');
  });

  it('compares long files that differ little, and keeps the hunks to their limit', async () => {
    const { fs, call } = memoryTools();
    const lines = Array.from({ length: 9000 }, (_, at) => `${at}`);
    fs.put('a', `${lines.join('\n')}\n`);
    fs.put('b', `${lines.with(4500, 'x').join('\n')}\n`);
    expect((await call('diff', { path_a: 'a', path_b: 'b' })).value).toMatchObject({ added: 1, removed: 1 });
    fs.put('wide', Array.from({ length: 40 }, (_, at) => `${at}${'w'.repeat(50_000)}\n${'same\n'.repeat(8)}`).join(''));
    fs.put('other', `${'same\n'.repeat(8)}`.repeat(40));
    const { value, chars } = await call('diff', { path_a: 'wide', path_b: 'other' });
    expect(chars).toBeLessThanOrEqual(1_200_000);
    expect(value.note).toContain('more hunks');
  });
});
