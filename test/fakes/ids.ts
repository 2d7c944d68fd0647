import type { Ids } from '../../ports/ids.ts';

/** Ids that count up: the same run gives the same ids. For tests only. */
export function createSequentialIds(): Ids {
  let last = 0;
  return {
    hex(bytes) {
      last += 1;
      const digits = last.toString(16);
      return digits.padStart(bytes * 2, '0').slice(-bytes * 2);
    },
  };
}
