/** Messages on a byte stream: 4 bytes of magic, the length as u32 little-endian, JSON as UTF-8. */

const MAGIC = Buffer.from('ODX1', 'latin1');
const HEADER_BYTES = 8;
/** Bytes of one message without its header. */
export const MAX_FRAME_BYTES = 32 * 1024 * 1024;

/** Header and body of a message; undefined when it is larger than a frame may be. */
export function encodeFrame(message: unknown): readonly [Buffer, Buffer] | undefined {
  const body = Buffer.from(JSON.stringify(message), 'utf8');
  if (body.length > MAX_FRAME_BYTES) return undefined;
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32LE(body.length, MAGIC.length);
  return [header, body];
}

export interface FrameListener {
  message(message: unknown): void;
  /** The stream holds something else, and is not read any further. Told once. */
  fault(reason: string): void;
}

/**
 * Cuts chunks into messages. Chunks are put together only once a whole frame is there, so that each
 * byte is copied at most once, however a frame was cut.
 */
export function createFrameReader(listener: FrameListener): { push(chunk: Buffer): void } {
  let chunks: Buffer[] = [];
  let size = 0;
  let needed = HEADER_BYTES;
  let broken = false;

  const fail = (reason: string) => {
    broken = true;
    chunks = [];
    listener.fault(reason);
  };

  const drain = () => {
    let all = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, size);
    while (!broken && all.length >= needed) {
      if (!all.subarray(0, MAGIC.length).equals(MAGIC)) return fail('a frame does not begin as one');
      const length = all.readUInt32LE(MAGIC.length);
      if (length > MAX_FRAME_BYTES) return fail(`a frame of ${length} bytes is over the limit of ${MAX_FRAME_BYTES}`);
      needed = HEADER_BYTES + length;
      if (all.length < needed) break;
      const body = all.subarray(HEADER_BYTES, needed);
      all = all.subarray(needed);
      needed = HEADER_BYTES;
      deliver(body);
    }
    chunks = all.length === 0 || broken ? [] : [all];
    size = broken ? 0 : all.length;
  };

  const deliver = (body: Buffer) => {
    let message: unknown;
    try {
      message = JSON.parse(UTF8.decode(body));
    } catch {
      return fail('a frame does not hold JSON');
    }
    listener.message(message);
  };

  return {
    push(chunk) {
      if (broken || chunk.length === 0) return;
      chunks.push(chunk);
      size += chunk.length;
      if (size >= needed) drain();
    },
  };
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });
