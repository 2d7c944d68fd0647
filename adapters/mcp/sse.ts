import { createLineReader } from './lines.ts';

/** One event of a stream. `event` is `message` where the stream names none. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
  /** Bytes of the data. */
  readonly bytes: number;
}

export interface EventReaderOptions {
  /** Bytes of one event's data. */
  readonly maxBytes: number;
  readonly onEvent: (event: StreamEvent) => void;
  /** Called once; nothing is read any more. */
  readonly onTooLong: (bytes: number) => void;
}

export interface EventReader {
  push(chunk: Uint8Array): void;
  /** The stream is over; an event that only lacks its empty line counts. */
  end(): void;
  /** Of the last event that had one. */
  readonly lastId: string | undefined;
  /** Milliseconds that the server wants a client to wait before it asks again. */
  readonly retryMs: number | undefined;
}

/** Room for the name of a field beside the data. */
const FIELD_BYTES = 16;
const MAX_ID_CHARS = 1024;

/** Server-sent events in bounded memory. */
export function createEventReader({ maxBytes, onEvent, onTooLong }: EventReaderOptions): EventReader {
  let data: string[] = [];
  let bytes = 0;
  let event = '';
  let lastId: string | undefined;
  let retryMs: number | undefined;
  let over = false;
  let first = true;

  const tooLong = (seen: number): void => {
    if (over) return;
    over = true;
    data = [];
    onTooLong(seen);
  };

  const dispatch = (): void => {
    const [only] = data;
    const text = data.length === 1 && only !== undefined ? only : data.join('\n');
    const size = bytes;
    const name = event;
    data = [];
    bytes = 0;
    event = '';
    if (text !== '') onEvent({ event: name === '' ? 'message' : name, data: text, bytes: size });
  };

  const field = (name: string, value: string, size: number): void => {
    if (name === 'data') {
      bytes += size;
      if (bytes > maxBytes) tooLong(bytes);
      else data.push(value);
    } else if (name === 'event') event = value;
    else if (name === 'id' && !value.includes('\0') && value.length <= MAX_ID_CHARS) lastId = value;
    else if (name === 'retry' && /^\d{1,9}$/.test(value)) retryMs = Number(value);
  };

  const line = (text: string, size: number): void => {
    if (over) return;
    const colon = text.indexOf(':');
    const start = text[colon + 1] === ' ' ? colon + 2 : colon + 1;
    if (text === '') dispatch();
    else if (colon === -1) field(text, '', 0);
    else if (colon > 0) field(text.slice(0, colon), text.slice(start), size - start);
  };

  const lines = createLineReader({
    maxBytes: maxBytes + FIELD_BYTES,
    keepEmpty: true,
    onLine(text, size) {
      const whole = first && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
      first = false;
      if (!whole.includes('\r')) return line(whole, size);
      for (const part of whole.split('\r')) line(part, Buffer.byteLength(part));
    },
    onTooLong: tooLong,
  });

  return {
    push: lines.push,
    end() {
      lines.end();
      if (!over) dispatch();
    },
    get lastId() {
      return lastId;
    },
    get retryMs() {
      return retryMs;
    },
  };
}
