import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHtml } from '../../../plugins/web/html.ts';

const read = (html: string) => readHtml(html, new URL('https://a.example/dir/page'));

describe('a page of HTML', () => {
  it('gives its title and its text, a line for each block, without what is not text', () => {
    const page = read(`<!doctype html><TITLE>A &amp; B</title><style>p{}</style><script>if (a < b) "</p>"</script>
      <!-- <p>no</p> --><h1>Head</h1><p>One <b>bold</b>&nbsp;word<br>two &#x41;&#66; 1 < 2</p><noscript>shown</noscript>`);
    expect(page).toEqual({ title: 'A & B', content: 'Head\nOne bold word\ntwo AB 1 < 2\nshown', elements: [] });
  });

  it('lists links with absolute addresses, buttons and fields, in their order', () => {
    const page = read(`<a href="../x?a=1&amp;b=2">to <i>x</i></a><a name=here>anchor</a><a href='javascript:alert(1)'>js</a>
      <button>Send</button><input placeholder="Your name"><input type=hidden name=h><textarea name=t><b>no</b></textarea><a href=//b.example>b`);
    expect(page.elements).toEqual([
      { ref: 'e1', type: 'link', text: 'to x', url: 'https://a.example/x?a=1&b=2' },
      { ref: 'e2', type: 'button', text: 'Send' },
      { ref: 'e3', type: 'input', text: 'Your name' },
      { ref: 'e4', type: 'textarea', text: 't' },
      { ref: 'e5', type: 'link', text: 'b', url: 'https://b.example/' },
    ]);
  });

  it('takes the base of the page', () => {
    expect(read('<base href="/other/"><a href=x>x</a>').elements[0]?.url).toBe('https://a.example/other/x');
  });

  it('lists at most 500 elements, with labels of at most 200 characters', () => {
    const { elements } = read(`<a href=/>${'x'.repeat(1000)}</a>`.repeat(600));
    expect(elements.length).toBeLessThanOrEqual(500);
    expect(elements[0]?.text).toHaveLength(200);
    expect(read('<a href=/>x</a>'.repeat(600)).elements).toHaveLength(500);
  });

  it('reads anything, and leaves no control character in the text', () => {
    const pieces = fc.constantFrom(
      '<',
      '>',
      '"',
      "'",
      '=',
      '&#0;',
      '&#27;',
      '&#xd800;',
      '<!--',
      '-->',
      '</',
      '<a href=',
      '<title>',
      '<script',
      'x',
      ' ',
      '\u001b',
      '\n',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 60 }), (parts) => {
        const { content } = read(parts.join(''));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
        expect(content).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
      }),
    );
  });

  it.each(['<', '<a ', '<a href="', "<a x='", '<!--', '<script>', '</', '<a =', '<title>', '&', '<b', '<a  \t', '<button>', '<x y= '])(
    'takes 2 MiB of %j without hanging',
    (piece) => {
      const started = performance.now();
      read(piece.repeat(Math.ceil((2 * 1024 * 1024) / piece.length)));
      read(`<a${' '.repeat(1024 * 1024)}${piece}`);
      expect(performance.now() - started).toBeLessThan(10_000);
    },
    20_000,
  );
});
