import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayText } from '../../../core/approvals/display.ts';

describe('text for a person', () => {
  it.each([
    ['a\u001b[31mb', 'a\\x1b[31mb'],
    ['a\u202eb', 'a\\u202eb'],
    ['a\u200bb\ufeff', 'a\\u200bb\\ufeff'],
    ['a\rb\u0000', 'a\\x0db\\x00'],
    ['a\tb', 'a\\tb'],
    ['one\ntwo', 'one\n    two'],
    ['\u{e0041}', '\\u{e0041}'],
    ['\u2028\u2066', '\\u2028\\u2066'],
    ['\ud800x', '\\ud800x'],
    ['plain € 😀 ä', 'plain € 😀 ä'],
  ])('%j is shown as %j', (text, shown) => {
    expect(displayText(text)).toBe(shown);
  });

  it('that is very long keeps head and tail and counts the bytes between', () => {
    expect(displayText(`${'a'.repeat(300)}${'é'.repeat(50)}${'z'.repeat(100)}`, 400)).toBe(
      `${'a'.repeat(300)}…[100 more bytes]${'z'.repeat(100)}`,
    );
  });

  it('never splits a pair of surrogates', () => {
    for (let limit = 8; limit < 20; limit += 1) expect(displayText('😀'.repeat(40), limit)).not.toContain('\\ud');
  });

  it('never holds a control, format or separator character', () => {
    const nasty = fc.string({ unit: fc.integer({ min: 0, max: 0x10ffff }).map((code) => String.fromCodePoint(code)), maxLength: 200 });
    fc.assert(
      fc.property(nasty, (text) => {
        expect(displayText(text, 100).replaceAll('\n    ', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
    );
  });
});
