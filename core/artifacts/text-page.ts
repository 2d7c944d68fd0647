export interface TextPage {
  readonly offset: number;
  /** Absent at the end. */
  readonly nextOffset?: number;
  readonly text: string;
}

const MAX_CHARACTER_BYTES = 4;

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** Bytes that the character with this first byte has. */
function widthOf(byte: number): number {
  if (byte >= 0xf0) return 4;
  if (byte >= 0xe0) return 3;
  return byte >= 0xc0 ? 2 : 1;
}

/** Where the last character ends that is there as a whole. */
function wholeEnd(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(MAX_CHARACTER_BYTES, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    return widthOf(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/**
 * Bytes of a UTF-8 file of `size` bytes, read from `offset` on, as whole characters. Undefined when they
 * are no text.
 */
export function textPage(bytes: Uint8Array, offset: number, size: number): TextPage | undefined {
  let start = 0;
  while (offset > 0 && start < MAX_CHARACTER_BYTES - 1 && isContinuation(bytes[start])) start += 1;
  const isLast = offset + bytes.length >= size;
  const end = isLast ? bytes.length : wholeEnd(bytes);
  const part = bytes.subarray(start, end);
  if (part.includes(0)) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(part);
    return { offset: offset + start, ...(!isLast && { nextOffset: offset + end }), text };
  } catch {
    return undefined;
  }
}
