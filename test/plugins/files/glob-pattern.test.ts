import { describe, expect, it } from 'vitest';
import { compileGlob } from '../../../plugins/files/glob-pattern.ts';

describe('a glob', () => {
  it.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'src/a.ts', false],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'src/deep/a.ts', true],
    ['src/**', 'src/deep/a.ts', true],
    ['src/**/test/*.ts', 'src/test/a.ts', true],
    ['a?c', 'abc', true],
    ['a?c', 'a/c', false],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['*.{ts,tsx}', 'a.tsx', true],
    ['{a,b{c,d}}', 'bd', true],
    ['{a', '{a', true],
    ['{a}', '{a}', true],
    ['*', '.hidden', false],
    ['.*', '.hidden', true],
    ['**/a', '.git/a', false],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['./src/*', 'src/a', true],
    ['(a+)+', '(a+)+', true],
  ])('%s on %s: %s', (pattern, path, expected) => {
    expect(compileGlob(pattern, { dot: false }).matches(path)).toBe(expected);
  });

  it('can match names that begin with a dot', () => {
    expect(compileGlob('*.yml', { dot: true }).matches('.travis.yml')).toBe(true);
  });

  it('knows how deep it can match', () => {
    expect([compileGlob('a/*', { dot: false }).depth, compileGlob('**/a', { dot: false }).depth]).toEqual([2, Number.POSITIVE_INFINITY]);
  });

  it('full of stars takes little time on a long name', () => {
    const startedAt = performance.now();
    expect(compileGlob(`${'*a'.repeat(200)}b`, { dot: false }).matches('a'.repeat(255))).toBe(false);
    expect(compileGlob(`${'**/a/'.repeat(90)}b`, { dot: false }).matches(`${'a/'.repeat(200)}c`)).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(3000);
  });

  it('that is too long or has too many alternatives is refused', () => {
    expect(() => compileGlob('x'.repeat(513), { dot: false })).toThrow('the limit is 512');
    expect(() => compileGlob('{a,b}'.repeat(8), { dot: false })).toThrow('more than 64 alternatives');
  });
});
