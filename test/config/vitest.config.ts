import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const root = fileURLToPath(new URL('../..', import.meta.url));

export default defineConfig({
  root,
  resolve: { alias: [{ find: /^fast-check$/, replacement: fileURLToPath(new URL('fast-check.ts', import.meta.url)) }] },
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: [fileURLToPath(new URL('build-program.ts', import.meta.url))],
    testTimeout: 20_000,
    hookTimeout: 20_000,
    pool: 'forks',
    // Many tests wait for processes of odek; one worker fewer than cores, the default, leaves a small machine idle.
    maxWorkers: Math.max(2, availableParallelism()),
    // `.ci/run` reads its closing line from this report.
    ...(process.env.CI ? { reporters: ['default', 'json'], outputFile: { json: `${root}/.odek-test/report.json` } } : {}),
  },
});
