import { StringDecoder } from 'node:string_decoder';
import { OdekError } from '../../../ports/errors.ts';

/** Lines of a stream that is no terminal. */
export interface LineReader {
  /** The next line without its end, or `undefined` at the end of the stream. Throws `input_too_long`. */
  next(signal?: AbortSignal): Promise<string | undefined>;
  close(): void;
}

/** Characters of one line. */
const MAX_LINE_CHARS = 1_048_576;
/** Lines that wait to be read before the stream is asked to stop. */
const MAX_WAITING_LINES = 1_000;

/**
 * Splits at LF and CRLF alone: a line separator (U+2028) inside a pasted text ends nothing, which
 * `node:readline` sees otherwise.
 */
export function createLineReader(stream: NodeJS.ReadableStream): LineReader {
  const decoder = new StringDecoder('utf8');
  const lines: string[] = [];
  let partial = '';
  let ended = false;
  let failure: unknown;
  let wake: () => void = () => undefined;

  const onData = (chunk: Buffer | string): void => {
    partial += typeof chunk === 'string' ? chunk : decoder.write(chunk);
    const parts = partial.split('\n');
    partial = parts.pop() ?? '';
    lines.push(...parts.map((line) => line.replace(/\r$/, '')));
    if (partial.length > MAX_LINE_CHARS) {
      failure = new OdekError('input_too_long', `a line of the input is longer than ${MAX_LINE_CHARS} characters`, {
        limit: MAX_LINE_CHARS,
      });
      close();
    }
    if (lines.length > MAX_WAITING_LINES) stream.pause();
    wake();
  };
  const onEnd = (): void => {
    partial += decoder.end();
    if (partial !== '') lines.push(partial);
    partial = '';
    ended = true;
    wake();
  };
  const onError = (error: unknown): void => {
    failure = error;
    onEnd();
  };
  const close = (): void => {
    ended = true;
    stream.removeListener('data', onData);
    stream.removeListener('end', onEnd);
    stream.removeListener('close', onEnd);
    stream.removeListener('error', onError);
    stream.pause();
    wake();
  };

  stream.on('data', onData);
  stream.on('end', onEnd);
  stream.on('close', onEnd);
  stream.on('error', onError);

  return {
    async next(signal) {
      const onAbort = (): void => wake();
      while (lines.length === 0 && !ended && !signal?.aborted) {
        stream.resume();
        await new Promise<void>((resolve) => {
          wake = resolve;
          signal?.addEventListener('abort', onAbort, { once: true });
        });
        signal?.removeEventListener('abort', onAbort);
      }
      if (signal?.aborted) return undefined;
      if (lines.length === 0 && failure !== undefined) throw failure;
      return lines.shift();
    },
    close,
  };
}
