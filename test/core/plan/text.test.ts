import { describe, expect, it } from 'vitest';
import {
  breaksToken,
  clampPoints,
  codePoints,
  compareCodePoints,
  cutUtf8,
  normaliseText,
  quoteAscii,
  utf8Length,
} from '../../../core/plan/text.ts';

describe('text of a plan', () => {
  it('becomes one line without em dashes, with its inner spaces kept', () => {
    expect(normaliseText('  two\r\nlines —\r and  \n more \ud800')).toBe('two lines -  and    more \ufffd');
  });

  it.each(['', 'plain', 'é', '漢', '🚀', '\ud800', '🚀é漢a'])('%j has the UTF-8 length that an encoder gives', (text) => {
    expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
  });

  it('is cut at the last character boundary within the bytes', () => {
    expect(cutUtf8('aé🚀b', 6)).toBe('aé');
    expect(cutUtf8('aé🚀b', 7)).toBe('aé🚀');
    expect(cutUtf8('ab', 10)).toBe('ab');
  });

  it('is counted and clamped in code points', () => {
    expect(codePoints('🚀a🚀')).toBe(3);
    expect(clampPoints('🚀a🚀', 3)).toBe('🚀a🚀');
    expect(clampPoints('🚀a🚀', 2)).toBe('🚀a…');
  });

  it('sorts by code point, so that astral characters come last', () => {
    expect(['🚀', '\uffff', 'b', 'a', 'ab'].sort(compareCodePoints)).toEqual(['a', 'ab', 'b', '\uffff', '🚀']);
  });

  it('is quoted in plain ASCII where asked for', () => {
    expect(quoteAscii('é"\n')).toBe('"\\u00e9\\"\\n"');
  });

  it.each(['', 'a b', 'a\u00a0b', 'a\u0085b', '[a', 'a]', '\u2028'])('%j cannot be an id', (text) => {
    expect(breaksToken(text)).toBe(true);
  });
});
