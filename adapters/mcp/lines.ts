import { StringDecoder } from 'node:string_decoder';

/** Pieces of a line are gathered up to this and then kept as text, so that many small ones take no more than their bytes. */
const ROOM = 64 * 1024;
const LF = 10;
const CR = 13;

export interface LineReaderOptions {
  /** Bytes of one line, without its ending. */
  readonly maxBytes: number;
  /** `bytes` is the line's length on the wire, without its ending. */
  readonly onLine: (text: string, bytes: number) => void;
  /** Called once; nothing is read any more. `bytes` is what had come of the line. */
  readonly onTooLong: (bytes: number) => void;
  /** Lines without a character are told too (no). */
  readonly keepEmpty?: boolean;
}

export interface LineReader {
  push(chunk: Uint8Array): void;
  /** What came after the last line feed is a line. */
  end(): void;
}

/** UTF-8 lines that end in LF, or CR LF. Memory is bounded by `maxBytes`, time is linear in the bytes. */
export function createLineReader({ maxBytes, onLine, onTooLong, keepEmpty = false }: LineReaderOptions): LineReader {
  const decoder = new StringDecoder('utf8');
  let room = Buffer.alloc(0);
  let used = 0;
  let parts: string[] = [];
  let length = 0;
  let over = false;

  const tooLong = (bytes: number): void => {
    over = true;
    parts = [];
    room = Buffer.alloc(0);
    length = 0;
    onTooLong(bytes);
  };

  const emit = (bytes: Buffer, start: number, end: number): void => {
    const stop = end > start && bytes[end - 1] === CR ? end - 1 : end;
    if (stop - start > maxBytes) tooLong(stop - start);
    else if (stop > start || keepEmpty) onLine(bytes.toString('utf8', start, stop), stop - start);
  };

  const settle = (): void => {
    if (used > 0) parts.push(decoder.write(room.subarray(0, used)));
    used = 0;
  };

  const hold = (part: Buffer): void => {
    const needed = length + part.length;
    // One more than the cap: a carriage return may still belong to the ending.
    if (needed > maxBytes + 1) {
      tooLong(needed);
      return;
    }
    length = needed;
    if (used + part.length > ROOM) settle();
    if (part.length >= ROOM) {
      parts.push(decoder.write(part));
      return;
    }
    if (room.length === 0) room = Buffer.allocUnsafe(ROOM);
    part.copy(room, used);
    used += part.length;
  };

  const finishHeld = (): void => {
    if (parts.length === 0) {
      const end = used;
      [used, length] = [0, 0];
      emit(room, 0, end);
      return;
    }
    settle();
    parts.push(decoder.end());
    const text = parts.join('');
    const hasReturn = text.endsWith('\r');
    const bytes = hasReturn ? length - 1 : length;
    [parts, length] = [[], 0];
    if (bytes > maxBytes) tooLong(bytes);
    else onLine(hasReturn ? text.slice(0, -1) : text, bytes);
  };

  return {
    push(chunk) {
      if (over) return;
      const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      let start = 0;
      for (let end = bytes.indexOf(LF); end !== -1 && !over; end = bytes.indexOf(LF, start)) {
        if (length === 0) emit(bytes, start, end);
        else {
          hold(bytes.subarray(start, end));
          if (!over) finishHeld();
        }
        start = end + 1;
      }
      if (!over && start < bytes.length) hold(bytes.subarray(start));
    },
    end() {
      if (!over && length > 0) finishHeld();
    },
  };
}
