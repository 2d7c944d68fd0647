import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellWidth, graphemes, truncateCells, wrapSpans, wrapText } from '../../../../hosts/cli/render/cells.ts';

describe('cells', () => {
  it.each([
    ['abc', 3],
    ['漢字', 4],
    ['한국어', 6],
    ['ｆｕｌｌ', 8],
    ['e\u0301', 1],
    ['🧠', 2],
    ['👩\u200d👩\u200d👧', 2],
    ['👍🏽', 2],
    ['❤\ufe0f', 2],
    ['🇩🇪', 2],
    ['✓ ⋯ … │', 7],
    ['', 0],
  ])('counts %j as %i', (text, width) => {
    expect(cellWidth(text)).toBe(width);
  });

  it('cuts at whole characters and says that it cut', () => {
    expect(truncateCells('abcdef', 6)).toBe('abcdef');
    expect(truncateCells('abcdef', 4)).toBe('abc…');
    expect(truncateCells('漢字漢字', 4)).toBe('漢…');
    expect(truncateCells('abc', 0)).toBe('');
  });

  it('wraps at spaces, inside a word only where the word is longer than a line, and between wide characters', () => {
    expect(wrapText('one two three', 8)).toEqual(['one two', 'three']);
    expect(wrapText('abcdefghij', 4)).toEqual(['abcd', 'efgh', 'ij']);
    expect(wrapText('漢字漢字漢', 5)).toEqual(['漢字', '漢字', '漢']);
    expect(wrapText('a\n\nb', 10)).toEqual(['a', '', 'b']);
  });

  it('keeps the style of each piece across a break', () => {
    const lines = wrapSpans(
      [
        { text: 'aa ', sgr: '' },
        { text: 'bb cc', sgr: '1' },
      ],
      5,
    );
    expect(lines).toEqual([
      [
        { text: 'aa ', sgr: '' },
        { text: 'bb', sgr: '1' },
      ],
      [{ text: 'cc', sgr: '1' }],
    ]);
  });

  it('loses no visible character and never exceeds the width, whatever the text', () => {
    const text = fc.array(fc.constantFrom('a', 'bcd', ' ', '漢', '🧠', 'e\u0301', '\n', '  ')).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 12 }), (value, width) => {
        const lines = wrapText(value, width);
        expect(lines.join('').replaceAll(' ', '')).toBe(value.replaceAll('\n', '').replaceAll(' ', ''));
        for (const line of lines) expect(cellWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});

it('text of simple characters is measured as the general rule would measure it', () => {
  const odd: string[] = [];
  for (let code = 0x20; code < 0x3000; code += 1) {
    const character = String.fromCharCode(code);
    const beside = `${character}😀`;
    if (graphemes(beside).length === 2 && cellWidth(beside) !== cellWidth(character) + 2) odd.push(code.toString(16));
  }
  expect(odd).toEqual([]);
});
