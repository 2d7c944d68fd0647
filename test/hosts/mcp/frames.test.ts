import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFrameReader } from '../../../hosts/mcp/frames.ts';

interface Seen {
  readonly frames: string[];
  readonly tooLong: number[];
}

function read(chunks: readonly (string | Buffer)[], maxBytes = 1000): Seen {
  const seen: Seen = { frames: [], tooLong: [] };
  const reader = createFrameReader(maxBytes, {
    onFrame: (frame) => seen.frames.push(frame.toString()),
    onTooLong: (bytes) => seen.tooLong.push(bytes),
  });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.end();
  return seen;
}

describe('lines of a stream', () => {
  it('end at LF, with or without a CR before it, wherever the chunks are cut', () => {
    expect(read(['a\r', '\nb\n', '\r\n', '\n  \n', 'c']).frames).toEqual(['a', 'b', 'c']);
  });

  it('do not end at CR alone or at the separators of Unicode', () => {
    expect(read(['a\rb\u2028c\u2029d\u0085e\n']).frames).toEqual(['a\rb\u2028c\u2029d\u0085e']);
  });

  it('are the same for every way to cut them', () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map((text) => `x${text.replaceAll(/[\r\n]/g, '')}`);
    fc.assert(
      fc.property(fc.array(line, { maxLength: 8 }), fc.array(fc.nat(60), { maxLength: 8 }), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''));
        const chunks: Buffer[] = [];
        let from = 0;
        for (const cut of cuts) {
          chunks.push(bytes.subarray(from, from + cut));
          from += cut;
        }
        chunks.push(bytes.subarray(from));
        expect(read(chunks).frames).toEqual(lines);
      }),
    );
  });

  it('that are too long are told with their length, hold nothing, and the next one is read', () => {
    const seen = read([...Array.from({ length: 100 }, () => 'x'.repeat(100)), '\nnext\n'], 1000);
    expect(seen).toEqual({ frames: ['next'], tooLong: [10_000] });
  });

  it('may be exactly as long as the limit, not counting their ending', () => {
    expect(read([`${'x'.repeat(10)}\r\n`, `${'y'.repeat(11)}\n`, `${'z'.repeat(10)}\n`], 10)).toEqual({
      frames: ['x'.repeat(10), 'z'.repeat(10)],
      tooLong: [11],
    });
  });
});
