import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cellWidth } from '../../../../hosts/cli/render/cells.ts';
import { createMarkdownStream, loadLexer } from '../../../../hosts/cli/render/markdown-stream.ts';
import { createPainter } from '../../../../hosts/cli/render/style.ts';

const lexer = await loadLexer();

function render(parts: readonly string[], width = 60, color = false): string[] {
  const stream = createMarkdownStream(lexer, () => ({ width, painter: createPainter(color) }));
  return [...parts.flatMap((part) => stream.push(part)), ...stream.end()];
}

describe('a markdown stream', () => {
  it('numbers a list as markdown does, also when its items arrive one by one', () => {
    expect(render(['1. a\n', '1. b\n', '1. c\n'])).toEqual(['1. a', '2. b', '3. c']);
    expect(render(['3. a\n4. b\n\ntext\n\n1. c\n'])).toEqual(['3. a', '4. b', '', 'text', '', '1. c']);
  });

  it('keeps the parts of a list item together: further paragraphs, nested lists and fenced code', () => {
    const source = '1. do this:\n\n   ```sh\n   npm ci\n\n   npm test\n   ```\n\n   then look\n2. and that\n   - nested **x**\n';
    expect(render([source])).toEqual([
      '1. do this:',
      '',
      '   ```sh',
      '   npm ci',
      '',
      '   npm test',
      '   ```',
      '',
      '   then look',
      '2. and that',
      '   ◦ nested x',
    ]);
  });

  it('shows task boxes, quotes, rules, images, raw HTML and link definitions without losing text', () => {
    const source =
      '- [x] done\n- [ ] open\n\n> said *so*\n>\n> twice\n\n---\n\n![alt](a.png) <b>raw</b>\n\n[1]: https://example.test/d "t"\n';
    expect(render([source])).toEqual([
      '• ☑ done',
      '• ☐ open',
      '',
      '│ said so',
      '│ ',
      '│ twice',
      '',
      '─'.repeat(40),
      '',
      '[image: alt] (a.png) <b>raw</b>',
      '',
      '[1]: https://example.test/d "t"',
    ]);
  });

  it('prints code lines as they complete and unwrapped, and closes a fence that the model left open', () => {
    const stream = createMarkdownStream(lexer, () => ({ width: 10, painter: createPainter(false) }));
    expect(stream.push('```js\nconst a = "longer than ten";\nsecond')).toEqual(['```js', 'const a = "longer than ten";']);
    expect(stream.tail()).toBe('second');
    expect(stream.end()).toEqual(['second', '```']);
  });

  it('does not close a fence at a shorter or other mark', () => {
    expect(render(['````\n```\n~~~~\n````\nafter'])).toEqual(['````', '```', '~~~~', '````', '', 'after']);
  });

  it('fits a table into the width by wrapping its widest cells, wide characters counted', () => {
    const lines = render(['| a | b |\n|---|---|\n| 漢字漢字漢字漢字漢字 | x `y` and a long text here |\n'], 24);
    for (const line of lines) expect(cellWidth(line)).toBeLessThanOrEqual(24);
    expect(lines.join('').replace(/[│─┼ ]/g, '')).toContain('漢字');
    expect(lines.join('').match(/漢/g)).toHaveLength(5);
  });

  it('gives the same lines however the text was cut, CRLF and unfinished markup included', () => {
    const source =
      '# T\r\n\r\na **b\r\nc** d `e\r\n\r\n- x\r\n\r\n- y\r\n\r\n  z\r\n\r\n| a |\r\n|---|\r\n| 1 |\r\nend\r\n***\r\n1) q\r\n2) r\r\n* s';
    const whole = render([source]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: source.length }), { maxLength: 12 }), (cuts) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), source.length];
        const parts = edges.slice(1).map((edge, index) => source.slice(edges[index], edge));
        expect(render(parts)).toEqual(whole);
      }),
    );
  });

  it('emits only its own escapes, whatever the markdown holds', () => {
    const piece = fc.constantFrom(
      '\u001b[2J',
      '&#27;[1A',
      '**',
      '`',
      '[a](',
      ')',
      '\n',
      '\n\n',
      '- ',
      '> ',
      '| a |\n|---|\n',
      '```\n',
      '# ',
      'x',
      '\u009b',
      '<br>',
      '![',
      '1. ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (parts) => {
        const text = render(parts, 30, true).join('\n');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the escapes that the painter writes are what is looked for.
        expect(text.replace(/\u001b\[[\d;]*m/g, '')).not.toMatch(/(?!\n)\p{Cc}/u);
      }),
    );
  });

  it.each([
    ['open brackets', '['.repeat(30_000)],
    ['emphasis marks', '*a'.repeat(15_000)],
    ['nested quotes', '>'.repeat(5_000)],
    ['nested lists', Array.from({ length: 300 }, (_, depth) => `${' '.repeat(depth * 2)}- x`).join('\n')],
    ['backticks', '`a'.repeat(15_000)],
    ['a line of 200 kB', 'word '.repeat(40_000)],
    ['a table of 3,000 rows', `|a|b|\n|-|-|\n${'|1|2|\n'.repeat(3_000)}`],
  ])('takes hostile markup (%s) within seconds', (_, source) => {
    const started = performance.now();
    expect(render([source]).join('\n').length).toBeGreaterThan(0);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
