import { randomBytes } from 'node:crypto';
import type { Ids } from '../../ports/ids.ts';

/** Ids from the operating system's random source. */
export function createRandomIds(): Ids {
  return { hex: (bytes) => randomBytes(bytes).toString('hex') };
}
