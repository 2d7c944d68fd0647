import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOutputRing } from '../../../core/jobs/output-ring.ts';

describe('the output ring', () => {
  it('gives back the end of what was written, whatever the pieces and the places they are read from', () => {
    const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '€', '😀', '\n') }), { maxLength: 30 });
    fc.assert(
      fc.property(
        pieces,
        fc.integer({ min: 8, max: 64 }),
        fc.integer({ min: 4, max: 16 }),
        fc.nat({ max: 100 }),
        (texts, capacity, page, since) => {
          const ring = createOutputRing(capacity);
          for (const text of texts) ring.write(text);
          const all = texts.join('');
          expect(ring.written).toBe(Buffer.byteLength(all));
          let [read, cursor] = ['', since];
          for (let piece = ring.read(cursor, page); piece.text !== ''; piece = ring.read(cursor, page)) {
            expect(Buffer.byteLength(piece.text)).toBeLessThanOrEqual(page);
            expect(piece.next).toBeGreaterThan(cursor);
            read += piece.text;
            cursor = piece.next;
          }
          // Also from inside the last character, of which nothing is left to give.
          expect(ring.read(cursor, page).next).toBe(ring.written);
          expect(all.endsWith(read)).toBe(true);
          const kept = Math.min(capacity, Math.max(0, ring.written - since));
          // A character that was cut, at either end, is left out.
          expect(Buffer.byteLength(read)).toBeGreaterThan(kept - 4);
          expect(Buffer.byteLength(read)).toBeLessThanOrEqual(kept);
        },
      ),
    );
  });

  it('tells how much of what was asked for is gone', () => {
    const ring = createOutputRing(10);
    ring.write('0123456789abcdef');
    expect(ring.read(0, 4)).toEqual({ text: '6789', next: 10, dropped: 6 });
    expect(ring.read(4, 4)).toMatchObject({ dropped: 2 });
    expect(ring.read(12, 100)).toEqual({ text: 'cdef', next: 16, dropped: 0 });
    expect(ring.read(99, 4)).toEqual({ text: '', next: 16, dropped: 0 });
    expect(ring.read(-5, 4)).toMatchObject({ text: '6789' });
  });

  it('takes many small writes in time and space that do not grow with their number', () => {
    const ring = createOutputRing(1024 * 1024);
    for (let at = 0; at < 1_200_000; at += 1) ring.write('x');
    expect(ring.read(0, 10)).toEqual({ text: 'xxxxxxxxxx', next: 1_200_000 - 1024 * 1024 + 10, dropped: 1_200_000 - 1024 * 1024 });
  });
});
