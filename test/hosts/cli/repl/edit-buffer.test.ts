import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellWidth } from '../../../../hosts/cli/render/cells.ts';
import { continued, isIncomplete } from '../../../../hosts/cli/repl/continuation.ts';
import { EDITS, type EditBuffer, EMPTY, insert, MAX_INPUT_CHARS, moveLine } from '../../../../hosts/cli/repl/edit-buffer.ts';
import { layOut } from '../../../../hosts/cli/repl/layout.ts';

/** `|` marks the cursor. */
function at(marked: string): EditBuffer {
  return { text: marked.replace('|', ''), cursor: marked.indexOf('|') };
}

function marked({ text, cursor }: EditBuffer): string {
  return `${text.slice(0, cursor)}|${text.slice(cursor)}`;
}

describe('edits', () => {
  it.each([
    ['left', 'a👩\u200d👧|b', 'a|👩\u200d👧b'],
    ['left', 'a\n|b', 'a|\nb'],
    ['left', '|a', '|a'],
    ['right', 'a|e\u0301b', 'ae\u0301|b'],
    ['right', 'a|', 'a|'],
    ['backspace', 'a漢|b', 'a|b'],
    ['backspace', 'a\n|b', 'a|b'],
    ['backspace', '|', '|'],
    ['delete', 'a|\nb', 'a|b'],
    ['delete', 'a|', 'a|'],
    ['wordLeft', 'one two  |', 'one |two  '],
    ['wordRight', 'one| two three', 'one two| three'],
    ['wordBackspace', 'one two|x', 'one |x'],
    ['wordDelete', '|one two', '| two'],
    ['lineStart', 'a\nbc|d', 'a\n|bcd'],
    ['lineEnd', 'a|b\nc', 'ab|\nc'],
    ['killToStart', 'a\nbc|d', 'a\n|d'],
    ['killToEnd', 'a|bc\nd', 'a|\nd'],
  ] as const)('%s turns %j into %j', (name, before, after) => {
    expect(marked(EDITS[name](at(before)))).toBe(after);
  });

  it('moves between lines in the same column, and not where there is no line', () => {
    expect(marked(moveLine(at('long line\nab|'), -1) as EditBuffer)).toBe('lo|ng line\nab');
    expect(marked(moveLine(at('long li|ne\nab'), 1) as EditBuffer)).toBe('long line\nab|');
    expect(moveLine(at('a|'), -1)).toBeUndefined();
    expect(moveLine(at('a|'), 1)).toBeUndefined();
  });

  it('never holds more than its bound', () => {
    const full = insert(EMPTY, 'x'.repeat(MAX_INPUT_CHARS + 10));
    expect(full.text).toHaveLength(MAX_INPUT_CHARS);
    expect(insert(full, 'y')).toEqual(full);
  });

  it('keep the cursor inside the text, whatever is done in whatever order', () => {
    const edit = fc.constantFrom(
      ...Object.values(EDITS),
      (buffer: EditBuffer) => insert(buffer, 'a漢\n👩\u200d👧 '),
      (buffer: EditBuffer) => moveLine(buffer, -1) ?? buffer,
    );
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 60 }), (edits) => {
        const buffer = edits.reduce<EditBuffer>((current, apply) => apply(current), EMPTY);
        expect(buffer.cursor).toBeGreaterThanOrEqual(0);
        expect(buffer.cursor).toBeLessThanOrEqual(buffer.text.length);
      }),
    );
  });
});

describe('the layout of an input', () => {
  const options = { columns: 12, maxRows: 4, prompt: '> ', continuation: '. ' };

  it('puts the cursor where its character is, after wide ones and after a wrap', () => {
    expect(layOut(at('漢|字'), options)).toEqual({ rows: ['> 漢字'], cursorRow: 0, cursorColumn: 4 });
    expect(layOut(at('123456789|0'), options)).toEqual({ rows: ['> 123456789', '0'], cursorRow: 1, cursorColumn: 0 });
    expect(layOut(at('a\n|b'), options)).toEqual({ rows: ['> a', '. b'], cursorRow: 1, cursorColumn: 2 });
  });

  it('shows the rows around the cursor of an input that is taller than the screen', () => {
    const text = Array.from({ length: 10 }, (_, index) => `${index}`).join('\n');
    expect(layOut({ text, cursor: text.length }, options).rows).toEqual(['. 6', '. 7', '. 8', '. 9']);
    expect(layOut({ text, cursor: 0 }, options).rows).toEqual(['> 0', '. 1', '. 2', '. 3']);
  });

  it('fits every row and makes control characters visible', () => {
    const text = fc.array(fc.constantFrom('a', '漢', '\n', '\u001b', '\t', '👩\u200d👧')).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, (value) => {
        const { rows, cursorRow } = layOut({ text: value, cursor: value.length }, { ...options, maxRows: 100 });
        for (const row of rows) expect(cellWidth(row)).toBeLessThanOrEqual(options.columns - 1);
        expect(rows.join('')).not.toMatch(/\p{Cc}/u);
        expect(cursorRow).toBe(rows.length - 1);
      }),
    );
  });
});

describe('continuation', () => {
  it.each([
    ['a\\', true, 'a\n'],
    ['a\\\\', false, undefined],
    ['```', true, '```\n'],
    ['```\ncode\\', true, '```\ncode\\\n'],
    ['```\ncode\n```', false, undefined],
    ['~~~~\n~~~', true, '~~~~\n~~~\n'],
    ['plain', false, undefined],
  ])('of %j: %s', (text, incomplete, next) => {
    expect(isIncomplete(text)).toBe(incomplete);
    if (next !== undefined) expect(continued(text)).toBe(next);
  });
});
