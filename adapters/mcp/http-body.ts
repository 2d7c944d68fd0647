import type { HttpResponse } from '../../ports/http.ts';
import { TransportFault } from './faults.ts';

/** A body of at most `limit` bytes. A larger one is not read on, and throws {@link TransportFault}. */
export async function readBounded(response: HttpResponse, limit: number): Promise<{ readonly text: string; readonly bytes: number }> {
  const announced = Number(response.headers['content-length']);
  const tooLarge = (bytes: number): TransportFault => {
    response.cancel();
    return new TransportFault({ kind: 'too_large', bytes });
  };
  if (announced > limit) throw tooLarge(announced);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > limit) throw tooLarge(bytes);
    chunks.push(chunk);
  }
  const [only] = chunks;
  const whole = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes);
  return { text: Buffer.from(whole.buffer, whole.byteOffset, whole.byteLength).toString('utf8'), bytes };
}

/** The beginning of a body, which is not read on after it; what breaks off counts as far as it came. */
export async function readText(response: HttpResponse, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response.body) {
      chunks.push(chunk.subarray(0, limit - bytes));
      bytes += chunk.byteLength;
      if (bytes >= limit) {
        response.cancel();
        break;
      }
    }
  } catch {
    // The status says enough.
  }
  return Buffer.concat(chunks).toString('utf8');
}
