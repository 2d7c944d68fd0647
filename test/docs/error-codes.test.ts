import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { errorCodes } from './error-codes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('docs/errors.md has a row for each code that source can throw, and none besides', () => {
  const page = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
  const documented = [...page.matchAll(/^\| `([a-z0-9_]+)` \|/gm)].map((match) => match[1] ?? '');
  const codes = errorCodes(ROOT);
  expect(codes.length).toBeGreaterThan(50);
  expect(codes.filter((code) => !documented.includes(code))).toEqual([]);
  expect(documented.filter((code) => !codes.includes(code))).toEqual([]);
  expect(new Set(documented).size).toBe(documented.length);
});
