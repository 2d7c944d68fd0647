import { createHash } from 'node:crypto';
import type { Hash } from '../../ports/hash.ts';

export function createSha256(): Hash {
  return { sha256: (data) => createHash('sha256').update(data).digest('hex') };
}
