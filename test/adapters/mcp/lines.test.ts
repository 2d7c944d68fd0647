import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLineReader } from '../../../adapters/mcp/lines.ts';

function read(chunks: readonly (string | Buffer)[], options: { maxBytes?: number; keepEmpty?: boolean; end?: boolean } = {}) {
  const lines: string[] = [];
  const sizes: number[] = [];
  const tooLong: number[] = [];
  const reader = createLineReader({
    maxBytes: options.maxBytes ?? 1000,
    keepEmpty: options.keepEmpty ?? false,
    onLine(text, bytes) {
      lines.push(text);
      sizes.push(bytes);
    },
    onTooLong: (bytes) => tooLong.push(bytes),
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  if (options.end === true) reader.end();
  return { lines, sizes, tooLong };
}

describe('lines', () => {
  it('end in LF or CR LF, also when the two come apart, and empty ones are left out', () => {
    expect(read(['one\ntwo\r\n\n\r\nthree\r', '\nfo', 'ur\nrest']).lines).toEqual(['one', 'two', 'three', 'four']);
  });

  it('keep a CR that ends nothing', () => {
    expect(read(['a\rb\n']).lines).toEqual(['a\rb']);
  });

  it('are told with empty ones where that is asked for', () => {
    expect(read(['\na\r\n\r\n'], { keepEmpty: true }).lines).toEqual(['', 'a', '']);
  });

  it('may lack their ending at the very end', () => {
    expect(read(['a\nb'], { end: true }).lines).toEqual(['a', 'b']);
  });

  it('are told with their bytes, not their characters', () => {
    expect(read(['grün\r\n', 'x\n']).sizes).toEqual([5, 1]);
  });

  it('of the limit are taken, of a byte more are not, in one chunk and in many', () => {
    for (const cut of [(text: string) => [text], (text: string) => text.split('')]) {
      expect(read(cut(`${'x'.repeat(10)}\r\n`), { maxBytes: 10 })).toMatchObject({ lines: ['x'.repeat(10)], tooLong: [] });
      const over = read(cut(`ok\n${'x'.repeat(11)}\nnever\n`), { maxBytes: 10 });
      expect(over.lines).toEqual(['ok']);
      expect(over.tooLong).toHaveLength(1);
    }
  });

  it('do not depend on how they are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, '_'))),
        fc.array(fc.nat(30)),
        (texts, cuts) => {
          const whole = Buffer.from(texts.map((text) => `${text}\n`).join(''));
          const chunks: Buffer[] = [];
          let at = 0;
          for (const cut of cuts) {
            chunks.push(whole.subarray(at, at + cut));
            at += cut;
          }
          chunks.push(whole.subarray(at));
          expect(read(chunks, { maxBytes: 10_000 }).lines).toEqual(texts.filter((text) => text !== ''));
        },
      ),
    );
  });

  it('of many small pieces take time in proportion to their length', () => {
    const time = (pieces: number): number => {
      const piece = Buffer.alloc(64, 'x');
      const reader = createLineReader({ maxBytes: 2 ** 30, onLine: () => {}, onTooLong: () => {} });
      const startedAt = performance.now();
      for (let each = 0; each < pieces; each += 1) reader.push(piece);
      reader.push(Buffer.from('\n'));
      return performance.now() - startedAt;
    };
    time(10_000);
    // Quadratic work would take 256 times as long for sixteen times the length.
    expect(time(320_000)).toBeLessThan(Math.max(5, time(20_000)) * 100);
  });
});
