/**
 * Randomness. Contract: `hex(n)` returns `2 * n` lower-case hex digits of `n` random bytes,
 * unpredictable unless the implementation says it is for tests.
 */
export interface Ids {
  hex(bytes: number): string;
}
