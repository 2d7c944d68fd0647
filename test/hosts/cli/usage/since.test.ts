import { describe, expect, it } from 'vitest';
import { readSince } from '../../../../hosts/cli/usage/since.ts';

const NOW = new Date(2026, 8, 30, 15, 30).getTime();

describe('a beginning of time', () => {
  it.each([
    ['1d', new Date(2026, 8, 30)],
    ['7d', new Date(2026, 8, 24)],
    ['2w', new Date(2026, 8, 17)],
    ['12h', new Date(2026, 8, 30, 3, 30)],
    ['2026-09-01', new Date(2026, 8, 1)],
    ['2024-02-29', new Date(2024, 1, 29)],
    ['all', new Date(0)],
  ])('%s', (text, date) => {
    expect(readSince(text, NOW)).toBe(date.getTime());
  });

  it.each(['', '7', 'd', '7m', '-7d', '1.5d', '2026-02-30', '2026-13-01', '2026-9-1', '999999d', 'yesterday'])('is not %j', (text) => {
    expect(() => readSince(text, NOW)).toThrow(expect.objectContaining({ name: 'ConfigError', code: 'invalid_since', value: text }));
  });
});
