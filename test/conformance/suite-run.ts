import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Longest run of a suite. */
export const RUN_MS = 90_000;

const require = createRequire(import.meta.url);

/** The program of a version of the suite. */
function programOf(name: string): string {
  return join(dirname(require.resolve(`${name}/package.json`)), 'dist/index.js');
}

interface Report {
  readonly scenarios: readonly { readonly name: string; readonly failed: number }[];
  readonly output: string;
}

/** Runs the suite of the package `name` and reads its summary. */
export function runSuite(name: string, args: readonly string[]): Promise<Report> {
  return new Promise((resolve) => {
    const options = { timeout: RUN_MS, maxBuffer: 64 * 1024 * 1024, cwd: tmpdir() };
    execFile(process.execPath, [programOf(name), ...args], options, (_error, stdout, stderr) => {
      const output = `${stdout}\n${stderr}`;
      const summary = output.slice(output.search(/=== (SUITE )?SUMMARY ===/));
      const scenarios = [...summary.matchAll(/^[✓✗~] ([\w/-]+): \d+ passed, (\d+) failed/gmu)].map(([, scenario = '', failed]) => ({
        name: scenario,
        failed: Number(failed),
      }));
      resolve({ scenarios, output });
    });
  });
}

/** Runs one scenario by itself. Resolves with whether it passes. */
export function passesAlone(name: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(process.execPath, [programOf(name), ...args], { timeout: RUN_MS, cwd: tmpdir() }, (error) => resolve(error === null));
  });
}
