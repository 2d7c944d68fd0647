import { OdekError } from '../../../ports/errors.ts';

/** One stream that may go away while we write: the reader of a pipe leaves, a terminal is closed, a disk is full. */
export interface Output {
  /** Does nothing once the reader has gone. */
  write(text: string): void;
  /** Resolves when all that was written has left. Throws `output_failed` when some could not be written (not for a reader that left). */
  flush(): Promise<void>;
}

const READER_GONE = new Set(['EPIPE', 'EIO', 'ECONNRESET', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END']);

const outputs = new WeakMap<NodeJS.WritableStream, Output>();

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'unknown';
}

function guard(stream: NodeJS.WritableStream): Output {
  let failure: unknown;
  stream.on('error', (error: unknown) => {
    failure ??= error;
  });
  return {
    write(text) {
      if (text !== '' && failure === undefined && stream.writable) stream.write(text);
    },
    async flush() {
      if (failure === undefined && stream.writable) {
        await new Promise<void>((resolve) => {
          stream.write('', (error) => {
            failure ??= error ?? undefined;
            resolve();
          });
        });
      }
      if (failure !== undefined && !READER_GONE.has(codeOf(failure))) {
        throw new OdekError('output_failed', `output could not be written: ${codeOf(failure)}`, { value: codeOf(failure), cause: failure });
      }
    },
  };
}

/** The one guard of `stream`: a listener a stream and not a listener a view. */
export function outputOf(stream: NodeJS.WritableStream): Output {
  const known = outputs.get(stream);
  if (known !== undefined) return known;
  const made = guard(stream);
  outputs.set(stream, made);
  return made;
}
