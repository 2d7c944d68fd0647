import type { Readable } from 'node:stream';

/** What was kept of a stream. */
export interface KeptOutput {
  readonly text: string;
  readonly truncated: boolean;
}

/** Reads a stream to its end, keeps the first `maxBytes` and throws the rest away. */
export function keepOutput(stream: Readable, maxBytes: number): { read(): KeptOutput } {
  const chunks: Buffer[] = [];
  let length = 0;
  let truncated = false;
  stream.on('data', (chunk: Buffer) => {
    const part = chunk.subarray(0, maxBytes - length);
    if (part.length < chunk.length) truncated = true;
    if (part.length === 0) return;
    // A copy: a slice would keep the whole pool of the stream alive.
    chunks.push(part.length < chunk.length ? Buffer.from(part) : part);
    length += part.length;
  });
  stream.on('error', () => {});
  return {
    read() {
      const bytes = Buffer.concat(chunks);
      return { text: (truncated ? withoutBrokenEnd(bytes) : bytes).toString('utf8'), truncated };
    },
  };
}

/** Takes off the bytes of a character that the cut went through. */
function withoutBrokenEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return back < lengthOfCharacter(byte) ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

function lengthOfCharacter(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}
