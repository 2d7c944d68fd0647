import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunked } from '../../../../hosts/telegram/format/chunks.ts';
import { formatMarkdown } from '../../../../hosts/telegram/format/index.ts';
import { toChatText } from '../../../../hosts/telegram/format/markdown.ts';
import type { ChatText } from '../../../../ports/chat-message.ts';
import { expectValid, withoutSpace } from './validity.ts';

/** Entities as `type:text`. */
const marked = ({ text, entities }: ChatText): string[] =>
  entities.map(({ type, offset, length, url, language }) => `${type}:${text.slice(offset, offset + length)}${url ?? language ?? ''}`);

describe('Markdown becomes text and entities', () => {
  it.each([
    ['**b** *i* ~~s~~ `c`', 'b i s c', ['bold:b', 'italic:i', 'strikethrough:s', 'code:c']],
    ['## A *head*', 'A head', ['bold:A head', 'italic:head']],
    ['**a `b` c**', 'a b c', ['bold:a ', 'bold: c', 'code:b']],
    ['[a_b](https://x.y/a_b "t")', 'a_b (t)', ['text_link:a_bhttps://x.y/a_b']],
    ['[`code`](https://x.y/)', 'code', ['text_link:codehttps://x.y/']],
    ['[file](./src/a.ts)', 'file (./src/a.ts)', []],
    ['<https://x.y/a>', 'https://x.y/a', []],
    ['![plot](https://x.y/p.png)', '🖼 plot', ['text_link:🖼 plothttps://x.y/p.png']],
    ['a\n\n───\n\nb\n\n***', 'a\n\n───\n\nb\n\n---', []],
    ['> one\n> > two', 'one\n\ntwo', ['blockquote:one\n\ntwo']],
    ['- a\n  - b\n- [x] c\n', '• a\n  ◦ b\n• ☑ c', []],
    ['3. a\n4. b', '3. a\n4. b', []],
    ['```ts title="a.ts"\nlet *a*;\n```', 'title="a.ts"\nlet *a*;', ['pre:let *a*;ts']],
    [
      '| a | b |\n|---|--:|\n| 1 | 22222 |',
      '| a   |     b |\n|-----|-------|\n| 1   | 22222 |',
      ['pre:| a   |     b |\n|-----|-------|\n| 1   | 22222 |'],
    ],
    ['| a |\n|---|\n| [l](https://x.y) |', '| a |\n|---|\n| [l](https://x.y) |', ['pre:| a |\n|---|\n| [l](https://x.y) |']],
    ['<b>not</b> a tag &amp; <b', '<b>not</b> a tag &amp; <b', []],
    ['[r]: https://x.y/z', '[r]: https://x.y/z', []],
  ])('%j', (markdown, text, entities) => {
    const found = toChatText(markdown);
    expect(found.text).toBe(text);
    expect(marked(found)).toEqual(entities);
  });

  it.each([
    'Fix - it',
    '1. Fix (v1.2.3)! - done',
    '```\nopen fence',
    '<b',
    '**[bold](https://x.y/a_b)**',
    'snake_case_name',
    '*',
    '[',
    '|',
    '\\',
    '`',
    '>',
    '#',
  ])('what a service could stumble over arrives: %j', (markdown) => {
    const [part, ...rest] = formatMarkdown(markdown, 4096);
    expect(rest).toEqual([]);
    expect(part?.text).not.toBe('');
    if (part !== undefined) expectValid(part, 4096);
  });

  it('shows nesting without end as it was written', () => {
    const deep = `${'> '.repeat(3_000)}deep`;
    expect(toChatText(deep).text).toContain('deep');
    expect(toChatText(`${'- '.repeat(2_000)}deep`).text).toContain('deep');
    expect(toChatText(`${'['.repeat(5_000)}deep`).text).toContain('deep');
  });
});

describe('a long text is cut', () => {
  const paragraph = 'word '.repeat(200).trim();

  it('at blank lines', () => {
    const parts = formatMarkdown(Array.from({ length: 10 }, () => paragraph).join('\n\n'), 4096);
    expect(parts.map(({ text }) => text)).toEqual([
      [paragraph, paragraph, paragraph, paragraph].join('\n\n'),
      [paragraph, paragraph, paragraph, paragraph].join('\n\n'),
      [paragraph, paragraph].join('\n\n'),
    ]);
  });

  it('before code that fits into a message, blank lines in it or not', () => {
    const code = `${'x = 1\n\n'.repeat(300)}end`;
    const parts = formatMarkdown(`${paragraph}\n\n${paragraph}\n\n${paragraph}\n\n\`\`\`py\n${code}\n\`\`\`\n\nafter`, 4096);
    expect(parts.map(({ text }) => text)).toEqual([[paragraph, paragraph, paragraph].join('\n\n'), `${code}\n\nafter`]);
    expect(parts[1]?.entities).toEqual([{ type: 'pre', offset: 0, length: code.length, language: 'py' }]);
  });

  it('inside code that is longer than a message at the end of a line, and goes on as code of the same language', () => {
    const lines = Array.from({ length: 900 }, (_, index) => `line ${index}`);
    const parts = formatMarkdown(`\`\`\`ts\n${lines.join('\n')}\n\`\`\``, 4096);
    expect(parts.length).toBeGreaterThan(1);
    for (const { text, entities } of parts) expect(entities).toEqual([{ type: 'pre', offset: 0, length: text.length, language: 'ts' }]);
    expect(parts.map(({ text }) => text).join('\n')).toBe(lines.join('\n'));
  });

  it('at the last space of a paragraph that is too long, and inside no word, pair or grapheme', () => {
    for (const { text } of formatMarkdown('word '.repeat(2_000), 4096)) expect(text).toMatch(/^(word )*word$/);
    const family = '👨‍👩‍👧‍👦';
    for (const { text } of formatMarkdown(family.repeat(1_000), 4096)) expect(text.replaceAll(family, '')).toBe('');
    for (const { text } of formatMarkdown('é'.normalize('NFD').repeat(5_000), 4095)) expect(text).toMatch(/^e/);
  });

  it('so that an entity goes on in the next message', () => {
    const [first, second] = formatMarkdown(`**${'word '.repeat(1_000).trim()}**`, 4096);
    expect(first?.entities).toEqual([{ type: 'bold', offset: 0, length: first?.text.length }]);
    expect(second?.entities).toEqual([{ type: 'bold', offset: 0, length: second?.text.length }]);
  });

  it('so that no message has more than 100 entities, since the service drops the others', () => {
    const parts = formatMarkdown('**b** c\n'.repeat(250), 4096);
    expect(parts.map(({ entities }) => entities.length)).toEqual([100, 100, 50]);
  });
});

/** Markup of every sort, put together without sense, around words that can be found again. */
const fragments = [
  ...[
    '**',
    '*',
    '_',
    '__',
    '~~',
    '`',
    '```',
    '```ts\n',
    '\n',
    '\n\n',
    ' ',
    '    ',
    '# ',
    '> ',
    '- ',
    '1. ',
    '- [ ] ',
    '---',
    '|',
    '|---|---|\n',
  ],
  ...[
    '[',
    '](',
    ')',
    '](https://x.y/a_b)',
    '![',
    '<b',
    '</b>',
    '<!-- ',
    ' -->',
    '&amp;',
    '\\',
    '😀',
    '👨‍👩‍👧',
    'é',
    '\ud800',
    '\u0000',
    '\t',
    '~',
    '=',
    '!',
  ],
];
const markdown = fc.array(
  fc.oneof(
    fc.constantFrom(...fragments),
    fc.nat(99_999).map((number) => `w${number}w`),
    fc.string({ unit: 'binary' }),
  ),
  {
    maxLength: 80,
  },
);

describe('whatever the model writes', () => {
  it('arrives: each message is valid, and together they hold the whole text', () => {
    fc.assert(
      fc.property(markdown, fc.integer({ min: 40, max: 200 }), (pieces, maxUnits) => {
        const whole = toChatText(pieces.join(''));
        const parts = chunked(whole, maxUnits);
        for (const part of parts) expectValid(part, maxUnits);
        expect(withoutSpace(parts.map(({ text }) => text).join(''))).toBe(withoutSpace(whole.text));
      }),
      { numRuns: 500 },
    );
  });

  it('arrives: every word of it is in the text or in an address', () => {
    fc.assert(
      fc.property(markdown, (pieces) => {
        const source = pieces.join('');
        const { text, entities } = toChatText(source);
        const all = text + entities.map(({ url = '', language = '' }) => ` ${url} ${language}`).join('');
        for (const [word] of source.matchAll(/w\d+w/g)) expect(all).toContain(word);
      }),
      { numRuns: 500 },
    );
  });

  it('arrives: each message is short enough in any text at all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 600 }), fc.integer({ min: 1, max: 64 }), (text, maxUnits) => {
        for (const part of formatMarkdown(text, Math.max(2, maxUnits))) expectValid(part, Math.max(2, maxUnits));
      }),
      { numRuns: 300 },
    );
  });
});
