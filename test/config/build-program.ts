import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/**
 * Builds the program once for a whole run of the tests: end-to-end tests start what is published,
 * and a bundle starts in a quarter of the time that the source files take.
 */
export default async function buildProgram(): Promise<() => Promise<void>> {
  const out = join(await mkdtemp(join(tmpdir(), 'odek-program-')), 'dist');
  const script = fileURLToPath(new URL('../../hosts/build.ts', import.meta.url));
  await promisify(execFile)(process.execPath, [script, '--no-types', '--out', out]);
  process.env.ODEK_TEST_PROGRAM = join(out, 'odek.js');
  return () => rm(join(out, '..'), { recursive: true, force: true });
}
