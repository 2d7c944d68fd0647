/** Digests. Contract: `sha256` returns 64 lower-case hex digits; text is hashed as UTF-8. */
export interface Hash {
  sha256(data: string | Uint8Array): string;
}
