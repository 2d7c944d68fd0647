import { describe, expect, it } from 'vitest';
import { createStderrReader } from '../../../adapters/mcp/stderr.ts';

const SECRET = 'swordfish-0123456789';
const redaction = { text: (text: string) => text.replaceAll(SECRET, '[REDACTED]'), reach: 1000 };

function read(chunks: readonly (string | Buffer)[]) {
  const shown: string[] = [];
  const reader = createStderrReader(redaction, (line) => shown.push(line));
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  return { shown, reader };
}

describe('standard error', () => {
  it('is shown by whole lines, the last one at the end', () => {
    const { shown, reader } = read(['one\ntw', 'o\r\n\nthr']);
    expect(shown).toEqual(['one', 'two']);
    reader.end();
    expect(shown).toEqual(['one', 'two', 'thr']);
  });

  it('puts characters together that come in pieces', () => {
    const bytes = Buffer.from('grün\n');
    expect(read([bytes.subarray(0, 3), bytes.subarray(3)]).shown).toEqual(['grün']);
  });

  it('cuts a long line, and never through a secret', () => {
    const { shown } = read([`${'x'.repeat(4090)}${SECRET}${'y'.repeat(10_000)}\n`]);
    expect(shown[0]?.length).toBeLessThan(4200);
    expect(shown[0]).not.toContain('swordfish');
  });

  it('is shown up to a rate, beyond which lines are counted', () => {
    const { shown, reader } = read(Array.from({ length: 3000 }, () => `${'z'.repeat(99)}\n`));
    expect(shown.length).toBeLessThan(1400);
    reader.end();
    expect(shown.at(-1)).toMatch(/^\[\d+ lines were not shown\]$/);
  });

  it('leaves a tail of 8 KiB that begins with a whole character', () => {
    const { reader } = read(['ü'.repeat(40_000), 'x']);
    const tail = reader.tail();
    expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(8192);
    expect(tail).toMatch(/^ü+x$/);
  });

  it('leaves no part of a secret in the tail, wherever its cut falls', () => {
    for (let shift = 0; shift < 40; shift += 1) {
      const { reader } = read([`${'a'.repeat(30_000)}${`${SECRET} `.repeat(600)}${'b'.repeat(shift)}`]);
      expect(reader.tail()).not.toMatch(/fish|0123|6789/);
      expect(reader.tail()).toContain('[REDACTED]');
    }
  });
});
