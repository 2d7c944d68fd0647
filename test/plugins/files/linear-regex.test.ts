import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileLinearRegex, PatternTooCostly } from '../../../plugins/files/linear-regex.ts';
import { PatternError } from '../../../plugins/files/regex-syntax.ts';
import { noise } from './fixture.ts';

const matches = (pattern: string, text: string): boolean => compileLinearRegex(pattern).test(text, 0, text.length);

describe('a pattern', () => {
  it.each([
    ['abc', 'xxabcxx', true],
    ['^abc$', 'abc', true],
    ['^abc$', 'abcd', false],
    ['a.c', 'a\u{1f600}c', true],
    ['[^a-c]', 'abc', false],
    ['[]x]', ']', true],
    ['[a\\-z]', '-', true],
    ['\\bfoo\\b', 'a foo b', true],
    ['\\bfoo\\b', 'afoob', false],
    ['foo\\B', 'foobar', true],
    ['(?:a|bc)+d', 'abcbcd', true],
    ['(?<name>a)(?P<other>b)', 'ab', true],
    ['x{2,3}y', 'xxxxy', true],
    ['^x{2,3}y', 'xy', false],
    ['a{,2}b', 'b', true],
    ['a{', 'a{', true],
    ['(?i)straße', 'STRAßE', true],
    ['(?i)[A-C]d', 'bD', true],
    ['(?i)[^a]', 'A', false],
    ['\\d+\\.\\d*', 'v1.', true],
    ['\\w+@\\w+\\.org', 'me@example.org', true],
    ['\\u0041\\x42\\u{43}', 'ABC', true],
    ['\\p{Lu}\\P{L}', 'Ä1', true],
    ['[[:alpha:]_]+[[:digit:]]', 'a_b7', true],
    ['a*?b+?', 'aab', true],
    ['', 'anything', true],
    ['()*x', 'x', true],
    ['(a*)*$', 'b', true],
    ['\\$\\{\\w+\\}', `use $${'{name}'}`, true],
    ['createGate\\(', 'export function createGate(x)', true],
  ])('%s on %j: %s', (pattern, text, expected) => {
    expect(matches(pattern, text)).toBe(expected);
  });

  it.each([
    ['(a', 'missing ")"'],
    ['a)', 'unbalanced ")"'],
    ['[a', 'missing "]"'],
    ['*a', 'nothing to repeat'],
    ['a\\', 'lone "\\"'],
    ['(a)\\1', 'back-reference'],
    ['(?=a)', 'look-around'],
    ['(?<!a)b', 'look-around'],
    ['[z-a]', 'backwards'],
    ['a{5,2}', 'bad repeat'],
    ['a{2000}', 'bad repeat'],
    ['((a{900}){900})', 'too large'],
    ['\\q', 'unknown escape'],
    ['\\p{Nonsense}', 'unknown character property'],
    ['(?x)a', 'unsupported flags'],
    ['('.repeat(200), 'nested more than'],
    ['a'.repeat(1001), 'the limit is 1000'],
  ])('%s is refused with what to do about it', (pattern, why) => {
    expect(() => compileLinearRegex(pattern)).toThrow(PatternError);
    expect(() => compileLinearRegex(pattern)).toThrow(why);
  });

  it('means what the language itself takes it to mean', () => {
    const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\b', '^', '$', '\\w', '\\W', ' ', '(?:)');
    const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
      pattern: fc.oneof(
        { maxDepth: 4 },
        atom,
        fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `${left}${right}`),
        fc.tuple(tie('pattern'), tie('pattern')).map(([left, right]) => `(?:${left}|${right})`),
        fc
          .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{0,2}', '{2}', '*?'))
          .map(([inner, quantifier]) => `(?:${inner})${quantifier}`),
      ),
    }));
    const text = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '.'), maxLength: 8 });
    fc.assert(
      fc.property(pattern, text, (source, subject) => {
        expect(matches(source, subject)).toBe(new RegExp(source).test(subject));
      }),
      { numRuns: 2000 },
    );
  });

  it.each(['(a+)+$', '(a|a)*b', '(.*)*x', '(a?){50}a{50}b', '.*.*.*.*.*=z', '(?:a*a*a*)*c'])(
    '%s takes time in proportion to the text',
    (pattern) => {
      const text = `${'a'.repeat(100_000)}!`;
      const startedAt = performance.now();
      expect(matches(pattern, text)).toBe(false);
      expect(performance.now() - startedAt).toBeLessThan(5000);
    },
  );

  it('that needs too many steps on a file gives up, and starts afresh on the next', () => {
    const matcher = compileLinearRegex('(?:a|b)*a(?:a|b){300}c');
    const text = noise(200_000);
    expect(() => matcher.test(text, 0, text.length)).toThrow(PatternTooCostly);
    matcher.refill();
    expect(matcher.test('ab', 0, 2)).toBe(false);
  });

  it('looks at its stretch of the text alone', () => {
    const matcher = compileLinearRegex('^b$');
    expect([matcher.test('abc', 1, 2), matcher.test('abc', 0, 2)]).toEqual([true, false]);
  });
});
