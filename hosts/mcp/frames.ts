const LF = 0x0a;
const CR = 0x0d;

/** What comes out of a stream of lines. */
export interface FrameHandlers {
  /** A line without its ending, never empty. */
  onFrame(frame: Buffer): void;
  /** A line that was too long, once its end is there. `bytes` of it arrived. */
  onTooLong(bytes: number): void;
}

/** Takes chunks as they come; `end` gives a last line that has no ending. */
export interface FrameReader {
  push(chunk: Buffer): void;
  end(): void;
}

/**
 * Splits on LF alone and takes a CR before it away. Lines without content are skipped. Holds at most
 * `maxBytes` of a line: the rest of a longer one is counted and dropped as it comes.
 */
export function createFrameReader(maxBytes: number, handlers: FrameHandlers): FrameReader {
  let parts: Buffer[] = [];
  let held = 0;
  let dropped = 0;

  const take = (bytes: Buffer): void => {
    if (dropped > 0 || held + bytes.length > maxBytes + 1) {
      dropped += held + bytes.length;
      parts = [];
      held = 0;
    } else if (bytes.length > 0) {
      parts.push(bytes);
      held += bytes.length;
    }
  };

  const finish = (): void => {
    const whole = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
    const tooLong = dropped;
    parts = [];
    held = 0;
    dropped = 0;
    const frame = whole.at(-1) === CR ? whole.subarray(0, -1) : whole;
    if (tooLong > 0) handlers.onTooLong(tooLong);
    else if (frame.length > maxBytes) handlers.onTooLong(frame.length);
    else if (!isBlank(frame)) handlers.onFrame(frame);
  };

  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, from)) {
        take(chunk.subarray(from, at));
        finish();
        from = at + 1;
      }
      take(chunk.subarray(from));
    },
    end() {
      if (held > 0 || dropped > 0) finish();
    },
  };
}

function isBlank(frame: Buffer): boolean {
  return frame.every((byte) => byte === 0x20 || byte === 0x09 || byte === CR);
}
