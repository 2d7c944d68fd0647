/** First room for a line that comes in pieces; doubled as needed, so that appending stays linear. */
const FIRST_ROOM = 64 * 1024;
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
  let held = Buffer.alloc(0);
  let length = 0;
  let over = false;

  const tooLong = (bytes: number): void => {
    over = true;
    held = Buffer.alloc(0);
    length = 0;
    onTooLong(bytes);
  };

  const emit = (bytes: Buffer, start: number, end: number): void => {
    const stop = end > start && bytes[end - 1] === CR ? end - 1 : end;
    if (stop - start > maxBytes) tooLong(stop - start);
    else if (stop > start || keepEmpty) onLine(bytes.toString('utf8', start, stop), stop - start);
  };

  const hold = (part: Buffer): void => {
    const needed = length + part.length;
    // One more than the cap: a carriage return may still belong to the ending.
    if (needed > maxBytes + 1) {
      tooLong(needed);
      return;
    }
    if (needed > held.length) {
      const room = Buffer.allocUnsafe(Math.min(Math.max(FIRST_ROOM, held.length * 2, needed), Math.max(maxBytes + 1, needed)));
      held.copy(room, 0, 0, length);
      held = room;
    }
    part.copy(held, length);
    length = needed;
  };

  const finishHeld = (): void => {
    const line = held;
    const end = length;
    length = 0;
    if (held.length > FIRST_ROOM) held = Buffer.alloc(0);
    emit(line, 0, end);
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
