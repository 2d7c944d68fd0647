import { describe, expect, it } from 'vitest';
import { counted, formatBytes, formatCost, formatDuration, formatTokens } from '../../../../hosts/cli/render/figures.ts';

describe('figures', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [999.6, '1.0 s'],
    [59_999, '59.9 s'],
    [60_000, '1m 00s'],
    [3_599_999, '59m 59s'],
    [3_720_000, '1h 02m'],
    [-5, '0 ms'],
  ])('reads %d milliseconds as %s', (ms, text) => expect(formatDuration(ms)).toBe(text));

  it.each([
    [812, '812 B'],
    [3_400, '3.4 kB'],
    [9_960, '10 kB'],
    [999_600, '1.0 MB'],
    [50_000_000, '50 MB'],
  ])('reads %d bytes as %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  it.each([
    [999, '999'],
    [12_345, '12.3k'],
    [1_234_567, '1.23M'],
  ])('reads %d tokens as %s', (count, text) => expect(formatTokens(count)).toBe(text));

  it('keeps the digits of small sums and counts in words', () => {
    expect([0, 0.0012, 0.52, 1.5].map(formatCost)).toEqual(['$0.00', '$0.0012', '$0.5200', '$1.50']);
    expect([counted(1, 'call'), counted(0, 'call')]).toEqual(['1 call', '0 calls']);
  });
});
