import type { FileSystem } from '../../ports/file-system.ts';
import { defineTool, type ToolResult, type ToolSpec } from '../../ports/plugin.ts';
import { byteLength, decodeExactly, decodeText, readWhole } from './content.ts';
import { failure, MAX_INPUT_BYTES, MAX_LISTED_CHARS, MAX_RESULT_CHARS, success } from './result.ts';

interface Base64Input {
  readonly path?: string;
  readonly content?: string;
  readonly string?: string;
  readonly decode?: boolean;
}

/** Bytes encoded at once: a multiple of three, so that pieces join, and few enough for one call. */
const PIECE_BYTES = 24_576;
/** A multiple of four, so that what is left decodes by itself. */
const MAX_ENCODED_CHARS = MAX_LISTED_CHARS;

/** `base64`: encodes a file or text, decodes a string. */
export function base64Tool(fs: FileSystem): ToolSpec {
  return defineTool<Base64Input>({
    name: 'base64',
    description:
      'Encode a file (path) or text (content) as base64: {encoded,size}; or decode (string with decode true) to text: {decoded,size}. 10 MiB at most.',
    parameters: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'File to encode' },
        content: { type: 'string', description: 'Text to encode' },
        string: { type: 'string', description: 'Base64 to decode, with decode true' },
        decode: { type: 'boolean' },
      },
    },
    maxResultChars: MAX_RESULT_CHARS,
    effects: ({ path }) => (path === undefined ? {} : { reads: [path] }),
    async execute(input, { signal }) {
      const { path, content, string, decode = false } = input;
      if ([path, content, string].filter((given) => given !== undefined).length !== 1) {
        return failure('give exactly one of path, content and string');
      }
      const source = path === undefined ? 'base64:inline' : `base64:${path}`;
      const bytes = await bytesOf(fs, input, signal);
      if (typeof bytes === 'string') return failure(bytes, source);
      if (string !== undefined && !decode) return failure('string is decoded: set decode to true, or give the text as content', source);
      return decode ? decoded(decodeText(bytes), source) : encoded(bytes, source);
    },
  });
}

async function bytesOf(fs: FileSystem, { path, content, string }: Base64Input, signal: AbortSignal): Promise<Uint8Array | string> {
  if (path !== undefined) {
    const read = await readWhole(fs, path, signal);
    return 'fault' in read ? read.fault : read.bytes;
  }
  const text = content ?? string ?? '';
  const size = byteLength(text);
  if (size > MAX_INPUT_BYTES) return `the text has ${size} bytes; at most ${MAX_INPUT_BYTES} (10 MiB) are taken`;
  return new TextEncoder().encode(text);
}

function encoded(bytes: Uint8Array, source: string): ToolResult {
  const kept = bytes.subarray(0, (MAX_ENCODED_CHARS / 4) * 3);
  const pieces: string[] = [];
  for (let from = 0; from < kept.length; from += PIECE_BYTES) {
    pieces.push(btoa(String.fromCharCode(...kept.subarray(from, from + PIECE_BYTES))));
  }
  const note = kept.length < bytes.length && `encoded holds the first ${kept.length} of ${bytes.length} bytes`;
  return success({ encoded: pieces.join(''), size: bytes.length, ...(note && { note }) }, source);
}

function decoded(text: string, source: string): ToolResult {
  const bytes = bytesIn(text);
  if (bytes === undefined) return failure('not base64: A-Z a-z 0-9 + / (or - _) with = at the end is expected', source);
  const plain = decodeExactly(bytes);
  if (plain === undefined) return failure(`it decodes to ${bytes.length} bytes that are not UTF-8 text`, source);
  // One character takes up to six in JSON.
  const kept = JSON.stringify(plain).length <= MAX_LISTED_CHARS ? plain : plain.slice(0, Math.floor(MAX_LISTED_CHARS / 6));
  const note = kept.length < plain.length && `decoded holds the first ${kept.length} of ${plain.length} characters`;
  return success({ decoded: kept, size: bytes.length, ...(note && { note }) }, source);
}

function bytesIn(text: string): Uint8Array | undefined {
  const standard = text.replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(standard)) return undefined;
  try {
    const binary = atob(standard);
    return Uint8Array.from({ length: binary.length }, (_, at) => binary.charCodeAt(at));
  } catch {
    return undefined;
  }
}
