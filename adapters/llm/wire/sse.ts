/** One server-sent event: its data lines joined by newlines, and its name where it has one. */
export interface SseEvent {
  readonly name?: string;
  readonly data: string;
}

/** Splits a reply into server-sent events. Work is linear in the bytes, however they are cut. */
export interface SseParser {
  /** The events that `bytes` completed. */
  push(bytes: Uint8Array): SseEvent[];
  /** What a reply without a final blank line still held. */
  end(): SseEvent[];
}

/** Lines end on LF, CRLF or CR; comments and `id` and `retry` fields are dropped; a BOM is skipped. */
export function createSseParser(): SseParser {
  const decoder = new TextDecoder();
  // Grows by concatenation and is searched only once, when its line ends.
  let partialLine = '';
  let afterCarriageReturn = false;
  let name: string | undefined;
  let data: string | undefined;

  const endEvent = (events: SseEvent[]): void => {
    if (data !== undefined) events.push(name === undefined ? { data } : { name, data });
    name = undefined;
    data = undefined;
  };
  const takeLine = (line: string, events: SseEvent[]): void => {
    if (line === '') {
      endEvent(events);
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const skip = line.charCodeAt(colon + 1) === 0x20 ? 2 : 1;
    const value = colon === -1 ? '' : line.slice(colon + skip);
    if (field === 'data') data = data === undefined ? value : `${data}\n${value}`;
    else if (field === 'event') name = value;
  };
  const takeText = (text: string, events: SseEvent[]): void => {
    let start = 0;
    if (afterCarriageReturn && text !== '') {
      if (text.startsWith('\n')) start = 1;
      afterCarriageReturn = false;
    }
    let carriageReturn = text.indexOf('\r', start);
    let lineFeed = text.indexOf('\n', start);
    while (lineFeed !== -1 || carriageReturn !== -1) {
      const endsOnReturn = carriageReturn !== -1 && (lineFeed === -1 || carriageReturn < lineFeed);
      const end = endsOnReturn ? carriageReturn : lineFeed;
      takeLine(partialLine + text.slice(start, end), events);
      partialLine = '';
      start = end + 1;
      if (endsOnReturn && lineFeed === start) start += 1;
      afterCarriageReturn = endsOnReturn && start === text.length && lineFeed !== start - 1;
      if (carriageReturn !== -1 && carriageReturn < start) carriageReturn = text.indexOf('\r', start);
      if (lineFeed !== -1 && lineFeed < start) lineFeed = text.indexOf('\n', start);
    }
    partialLine += text.slice(start);
  };
  return {
    push(bytes) {
      const events: SseEvent[] = [];
      takeText(decoder.decode(bytes, { stream: true }), events);
      return events;
    },
    end() {
      const events: SseEvent[] = [];
      takeText(decoder.decode(), events);
      if (partialLine !== '') takeLine(partialLine, events);
      partialLine = '';
      endEvent(events);
      return events;
    },
  };
}
