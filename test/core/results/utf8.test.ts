import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { headChars, utf8Head, utf8Length, utf8Tail } from '../../../core/results/utf8.ts';

const anyText = fc.string({ unit: 'binary' });

describe('UTF-8 measures', () => {
  it('count what an encoder writes, lone surrogates included', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0xffff })), (units) => {
        const text = String.fromCharCode(...units);
        expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
      }),
    );
    expect(utf8Length('\ud83d\ude00é€a\ud83d')).toBe(4 + 2 + 3 + 1 + 3);
  });

  it('cut the longest beginning and end that fit', () => {
    fc.assert(
      fc.property(anyText, fc.nat(40), (text, max) => {
        const head = utf8Head(text, max);
        const tail = utf8Tail(text, max);
        expect(text.startsWith(head)).toBe(true);
        expect(text.endsWith(tail)).toBe(true);
        expect(utf8Length(head)).toBeLessThanOrEqual(max);
        expect(utf8Length(tail)).toBeLessThanOrEqual(max);
        if (head !== text) expect(utf8Length(head)).toBeGreaterThan(max - 4);
        if (tail !== text) expect(utf8Length(tail)).toBeGreaterThan(max - 4);
      }),
    );
  });

  it('never cut a surrogate pair in half', () => {
    expect(utf8Head('a\u{1F600}', 4)).toBe('a');
    expect(utf8Tail('\u{1F600}a', 4)).toBe('a');
    expect(headChars('a\u{1F600}b', 2)).toBe('a');
  });
});
