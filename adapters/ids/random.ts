import { randomFillSync } from 'node:crypto';
import type { Ids } from '../../ports/ids.ts';

/** Bytes asked of the system at once: a call costs the same for one as for many. */
const POOL_BYTES = 1024;

/** Ids from the operating system's random source. No byte is given out twice. */
export function createRandomIds(): Ids {
  const pool = Buffer.alloc(POOL_BYTES);
  let used = POOL_BYTES;
  return {
    hex(bytes) {
      if (bytes > POOL_BYTES) return randomFillSync(Buffer.alloc(bytes)).toString('hex');
      if (used + bytes > POOL_BYTES) {
        randomFillSync(pool);
        used = 0;
      }
      used += bytes;
      return pool.toString('hex', used - bytes, used);
    },
  };
}
