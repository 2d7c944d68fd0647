const FIRST_BYTES = 4096;

/** A piece of what was written. */
export interface RingPiece {
  readonly text: string;
  /** Cursor behind the piece. */
  readonly next: number;
  /** Bytes before the piece that were asked for and are not kept. */
  readonly dropped: number;
}

/** The newest bytes of a text that grows. Cursors count bytes from the first one ever written. */
export interface OutputRing {
  /** Bytes written so far, kept or not. */
  readonly written: number;
  write(text: string): void;
  /** At most `maxBytes` from `since` on, cut between characters. */
  read(since: number, maxBytes: number): RingPiece;
}

/** Keeps `capacity` bytes; takes up memory only as text comes in. */
export function createOutputRing(capacity: number): OutputRing {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  let bytes = new Uint8Array(Math.min(FIRST_BYTES, capacity));
  let written = 0;

  const oldest = (): number => Math.max(0, written - bytes.length);

  /** While nothing was overwritten the bytes lie from the start on, so that they can be moved as they are. */
  const grow = (needed: number): void => {
    if (needed <= bytes.length || bytes.length === capacity) return;
    const larger = new Uint8Array(Math.min(capacity, Math.max(needed, bytes.length * 2)));
    larger.set(bytes.subarray(0, written));
    bytes = larger;
  };

  const put = (from: Uint8Array): void => {
    const kept = from.subarray(Math.max(0, from.length - bytes.length));
    const at = (written + from.length - kept.length) % bytes.length;
    const first = kept.subarray(0, bytes.length - at);
    bytes.set(first, at);
    bytes.set(kept.subarray(first.length), 0);
    written += from.length;
  };

  const byteAt = (cursor: number): number => bytes[cursor % bytes.length] ?? 0;
  const isInside = (cursor: number): boolean => (byteAt(cursor) & 0xc0) === 0x80;

  const copy = (from: number, to: number): Uint8Array => {
    const piece = new Uint8Array(to - from);
    const at = from % bytes.length;
    const first = bytes.subarray(at, Math.min(bytes.length, at + piece.length));
    piece.set(first);
    piece.set(bytes.subarray(0, piece.length - first.length), first.length);
    return piece;
  };

  return {
    get written() {
      return written;
    },
    write(text) {
      const encoded = encoder.encode(text);
      grow(written + encoded.length);
      put(encoded);
    },
    read(since, maxBytes) {
      const asked = Math.min(Math.max(0, since), written);
      let from = Math.max(asked, oldest());
      while (from < written && isInside(from)) from += 1;
      let to = Math.min(written, from + maxBytes);
      while (to > from && to < written && isInside(to)) to -= 1;
      return { text: decoder.decode(copy(from, to)), next: to, dropped: from - asked };
    },
  };
}
