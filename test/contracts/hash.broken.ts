import { createHash } from 'node:crypto';
import type { Hash } from '../../ports/hash.ts';
import type { HashHarness } from './hash.suite.ts';
import type { BrokenAdapter } from './suite.ts';

function broken(name: string, caughtBy: string, sha256: Hash['sha256']): BrokenAdapter<HashHarness> {
  return { name, caughtBy: `hash/${caughtBy}`, harness: { make: () => ({ sha256 }) } };
}

function digest(data: Uint8Array | string): string {
  return createHash('sha256').update(data).digest('hex');
}

/** Digests that the suite must reject. */
export const brokenHashes: readonly BrokenAdapter<HashHarness>[] = [
  broken('gives capitals', 'sha256', (data) => digest(data).toUpperCase()),
  broken('cuts the digest short', 'sha256', (data) => digest(data).slice(0, 32)),
  broken('reads text as Latin-1', 'utf8', (data) => digest(typeof data === 'string' ? Buffer.from(data, 'latin1') : data)),
  broken('turns bytes into text first', 'bytes', (data) => digest(String(data))),
  broken('hashes the whole buffer behind a view', 'bytes', (data) => digest(typeof data === 'string' ? data : new Uint8Array(data.buffer))),
];
