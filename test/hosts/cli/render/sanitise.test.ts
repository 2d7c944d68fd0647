import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { neutralise, sanitise, sanitiseLine } from '../../../../hosts/cli/render/sanitise.ts';

describe('sanitise', () => {
  it('makes every control character but tab and newline visible', () => {
    for (let code = 0; code < 0xa0; code += 1) {
      const character = String.fromCharCode(code);
      const isText = character === '\t' || character === '\n' || (code >= 0x20 && code < 0x7f);
      expect(sanitise(character)).toBe(isText ? character : `\\x${code.toString(16).padStart(2, '0')}`);
    }
  });

  it('makes direction overrides, invisible fillers, tag characters and unpaired surrogates visible', () => {
    expect(sanitise('a\u202eb\u2066c\u200bd\u{e0041}e\ud800f\ufeff')).toBe('a\\u202eb\\u2066c\\u200bd\\u{e0041}e\\ud800f\\ufeff');
  });

  it('leaves text of every script and joined emoji as they are', () => {
    const text = 'naïve 漢字 नमस्ते می\u200cخواهم 👩\u200d👩\u200d👧 ❤\ufe0f é\u0301\n\tok';
    expect(sanitise(text)).toBe(text);
    expect(neutralise(text)).toBe(text);
  });

  it('reads CRLF as a newline and never lets a lone CR through', () => {
    expect(sanitise('a\r\nb\rc')).toBe('a\nb\\x0dc');
  });

  it('gives the same for a text and for its pieces, and nothing new when applied twice', () => {
    const nasty = fc
      .array(fc.constantFrom('\u001b', '[2J', '\u009b', '\u202e', 'a', '漢', '\n', '\u0007', '\\x1b', '\u2028'))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(nasty, nasty, (left, right) => {
        expect(sanitise(left + right)).toBe(sanitise(left) + sanitise(right));
        expect(sanitise(sanitise(left))).toBe(sanitise(left));
        expect(sanitise(left)).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
      }),
    );
  });

  it('keeps a direction mark in a pipe, where no screen is deceived and data must stay itself', () => {
    expect(neutralise('א\u200fב\u202e\u001b')).toBe('א\u200fב\u202e\\x1b');
  });

  it('puts one-line text on one line', () => {
    expect(sanitiseLine('  rm\n\t-rf \u2028 x\u0000 ')).toBe('rm -rf x\\x00');
  });
});
