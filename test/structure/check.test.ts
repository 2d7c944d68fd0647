import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT, run } from '../package/packed.ts';

/** The parts of `npm run check` that no other test runs. */
const TOOLS: readonly (readonly [what: string, file: string, args: readonly string[]])[] = [
  ['types', 'node_modules/typescript/bin/tsc', ['-p', '.']],
  ['lint and format', 'node_modules/@biomejs/biome/bin/biome', ['check', '--error-on-warnings', '.']],
  ['dead code', 'node_modules/knip/bin/knip.js', ['--config', 'test/config/knip.json']],
];

describe('npm run check', () => {
  test.each(TOOLS)('has nothing to say about %s', { timeout: 180_000 }, async (_, file, args) => {
    expect(existsSync(join(ROOT, file))).toBe(true);
    const ended = await run(process.execPath, [join(ROOT, file), ...args], { cwd: ROOT });
    expect(`${ended.code} ${ended.code === 0 ? '' : `${ended.stdout}\n${ended.stderr}`}`.trim()).toBe('0');
  });
});
