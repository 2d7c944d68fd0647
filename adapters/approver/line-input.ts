import { StringDecoder } from 'node:string_decoder';

/** What came from a person: a line, or the end of the input. */
export type Line = { readonly text: string } | { readonly ended: true };

const MAX_LINE = 1000;
const INTERRUPT = '\u0003';
const END_OF_INPUT = '\u0004';

/**
 * Reads lines from a terminal in line mode or in raw mode; of a longer line its last `maxChars`. Listens
 * only between `open` and `close`.
 */
export function createLineInput(input: NodeJS.ReadableStream, maxChars: number = MAX_LINE) {
  let pending = '';
  let deliver: ((line: Line) => void) | undefined;
  let ended = false;
  const decoder = new StringDecoder('utf8');

  const offer = () => {
    if (!deliver) return;
    const end = pending.search(/[\r\n]/);
    if (end >= 0) {
      const text = pending.slice(0, end);
      pending = pending.slice(end + 1);
      give({ text });
    } else if (ended) give({ ended: true });
  };
  const give = (line: Line) => {
    const to = deliver;
    deliver = undefined;
    to?.(line);
  };
  const onData = (chunk: Buffer | string) => {
    pending = (pending + (typeof chunk === 'string' ? chunk : decoder.write(chunk))).slice(-maxChars);
    if (pending.includes(INTERRUPT) || pending.includes(END_OF_INPUT)) ended = true;
    offer();
  };
  const onEnd = () => {
    ended = true;
    offer();
  };

  return {
    open(): void {
      input.on('data', onData);
      for (const event of ['end', 'close', 'error']) input.on(event, onEnd);
      input.resume();
    },
    close(): void {
      input.off('data', onData);
      for (const event of ['end', 'close', 'error']) input.off(event, onEnd);
      input.pause();
      deliver = undefined;
    },
    /** Forgets what was typed so far. */
    drop(): void {
      pending = '';
    },
    next(): Promise<Line> {
      return new Promise((resolve) => {
        deliver = resolve;
        offer();
      });
    },
  };
}

export type LineInput = ReturnType<typeof createLineInput>;
