import type { FileSystem } from '../../ports/file-system.ts';
import { MAX_INPUT_BYTES } from './result.ts';

const BINARY_SAMPLE_BYTES = 8192;

/** A file's bytes, or why they cannot be had. */
export async function readWhole(
  fs: FileSystem,
  path: string,
  signal: AbortSignal,
): Promise<{ readonly bytes: Uint8Array } | { readonly fault: string }> {
  const { bytes, size } = await fs.read(path, { maxBytes: MAX_INPUT_BYTES, signal });
  if (size <= bytes.length) return { bytes };
  return { fault: `${path} has ${size} bytes; at most ${MAX_INPUT_BYTES} (10 MiB) are taken` };
}

/** Whether the beginning of a file holds a NUL byte, which no text does. */
export function isBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, BINARY_SAMPLE_BYTES).includes(0);
}

/** UTF-8 as text without a byte order mark; what is not UTF-8 shows as U+FFFD. */
export function decodeText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/** UTF-8 as the very text that encodes to these bytes; undefined when there is none. */
export function decodeExactly(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Lines without their ends (`\n` or `\r\n`). A final line end does not open another line. */
export function linesOf(text: string): readonly string[] {
  if (text === '') return [];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  return text.includes('\r') ? lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)) : lines;
}

export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
