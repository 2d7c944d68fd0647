import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { sourceFiles } from '../structure/ambient.ts';
import { errorCodes } from './error-codes.ts';

const SOURCE = ['core', 'ports', 'adapters', 'plugins', 'hosts'];

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

test('docs/errors.md has one row for each code that source throws, and none that no source holds', () => {
  const page = readFileSync(join(ROOT, 'docs/errors.md'), 'utf8');
  const documented = [...page.matchAll(/^\| `([a-z0-9_]+)` \|/gm)].map((match) => match[1] ?? '');
  const codes = errorCodes(ROOT);
  expect(codes.length).toBeGreaterThan(50);
  expect(codes.filter((code) => !documented.includes(code))).toEqual([]);
  expect(documented.filter((code) => !holdsLiteral(code))).toEqual([]);
  expect(new Set(documented).size).toBe(documented.length);
});

/** Some codes stand in tables from which an error is made; those are found as text. */
function holdsLiteral(code: string): boolean {
  return SOURCE.flatMap((folder) => sourceFiles(join(ROOT, folder))).some((file) => readFileSync(file, 'utf8').includes(`'${code}'`));
}
