import { randomBytes } from 'node:crypto';
import type { Ids } from '../../ports/ids.ts';
import { createSequentialIds } from '../fakes/ids.ts';
import type { IdsHarness } from './ids.suite.ts';
import type { BrokenAdapter } from './suite.ts';

function broken(name: string, caughtBy: string, make: () => Ids): BrokenAdapter<IdsHarness> {
  return { name, caughtBy: `ids/${caughtBy}`, harness: { make } };
}

/** Sources of ids that the suite must reject. */
export const brokenIds: readonly BrokenAdapter<IdsHarness>[] = [
  broken('counts digits instead of bytes', 'length', () => ({ hex: (bytes) => randomBytes(bytes).toString('hex').slice(bytes) })),
  broken('writes capitals', 'lower-case-hex', () => ({ hex: (bytes) => randomBytes(bytes).toString('hex').toUpperCase() })),
  broken('repeats itself', 'unique', () => {
    let draws = 0;
    return { hex: (bytes) => String((draws++ % 100) + 100).padStart(bytes * 2, '0') };
  }),
  broken('counts up', 'unpredictable', createSequentialIds),
];
