import { createHash } from 'node:crypto';
import type { Hash } from '../../ports/hash.ts';

/** Real digests, and a list of what was hashed. */
export function createRecordingHash(): Hash & { readonly hashed: readonly (string | Uint8Array)[] } {
  const hashed: (string | Uint8Array)[] = [];
  return {
    hashed,
    sha256(data) {
      hashed.push(data);
      return createHash('sha256').update(data).digest('hex');
    },
  };
}
