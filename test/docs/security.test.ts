import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Rows of the table that name a test. */
const ROWS = [...readFileSync(join(ROOT, 'docs/security.md'), 'utf8').matchAll(/^\| ([^|]+) \| `(test\/[^`]+)` \| ([^|]+) \|$/gm)].map(
  ([, promise = '', file = '', title = '']) => [promise, file, title] as const,
);

describe('the page about security', () => {
  it('holds what it promises with a test for each', () => {
    expect(ROWS.length).toBeGreaterThan(40);
    expect(new Set(ROWS.map(([promise]) => promise)).size).toBe(ROWS.length);
  });

  it.each(ROWS)('%s names a test that is there: %s, %s', (_, file, title) => {
    expect(existsSync(join(ROOT, file))).toBe(true);
    const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
    const quoted = ["'", '"', '`'].map((quote) => `${quote}${title}${quote}`);
    expect(lines.some((line) => quoted.some((each) => line.replaceAll("\\'", "'").includes(each)))).toBe(true);
  });
});
