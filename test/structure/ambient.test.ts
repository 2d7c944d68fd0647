import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { ambientUses, sourceFiles } from './ambient.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const PLANTED = `
import type { Clock } from './clock.ts';
export const a = () => process.env['HOME'];
export const b = () => Date.now() + Math.random();
export const c = () => new Date();
export const d = () => setTimeout(() => undefined, 1);
export const e = () => fetch('http://127.0.0.1');
export const f = () => Buffer.from('a');
export const g = () => AbortSignal.timeout(5);
export const h = () => globalThis.performance;
export const i = () => import.meta.url;
`;

const INNOCENT = `
export interface Clock { now(): number; setTimeout(ms: number): void }
// process, Date.now and Math.random in a comment are words.
export const run = (clock: Clock, process: { run(): void }) => { process.run(); clock.setTimeout(clock.now()); return new Date(0); };
export const text = 'process.env';
export const signal = new AbortController().signal;
export const bytes = new TextEncoder().encode(btoa('a'));
`;

test('core, ports and plugins take time, randomness, timers, files and the network from nowhere but their ports', {
  timeout: 120_000,
}, () => {
  const files = ['core', 'ports', 'plugins'].flatMap((folder) => sourceFiles(join(ROOT, folder)));
  expect(files.length).toBeGreaterThan(40);
  expect(ambientUses(ROOT, files)).toEqual([]);
});

test('a planted use of each kind is found, and a parameter or comment of the same name is not', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'odek-ambient-'));
  try {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, 'planted.ts'), PLANTED);
    await writeFile(join(folder, 'clock.ts'), INNOCENT);
    expect(ambientUses(folder, [join(folder, 'planted.ts'), join(folder, 'clock.ts')])).toEqual([
      'planted.ts:3 process',
      'planted.ts:4 Date.now',
      'planted.ts:4 Math.random',
      'planted.ts:5 new Date()',
      'planted.ts:6 setTimeout',
      'planted.ts:7 fetch',
      'planted.ts:8 Buffer',
      'planted.ts:9 AbortSignal.timeout',
      'planted.ts:10 globalThis',
      'planted.ts:11 import.meta',
    ]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
