import type { Readable, Writable } from 'node:stream';
import type { McpServerFactory } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createStreamTransport, type StreamTransportOptions } from './stream-transport.ts';

export interface ServeStreamsOptions extends StreamTransportOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Ends the connection. */
  readonly signal: AbortSignal;
}

/** Serves one client over two streams. Resolves when the connection is over: the input ended, the reader went away, or `signal` fired. */
export async function serveStreams(factory: McpServerFactory, options: ServeStreamsOptions): Promise<void> {
  const transport = createStreamTransport(options.input, options.output, options);
  const handle = serveStdio(factory, { transport });
  const stop = (): void => void handle.close();
  options.signal.addEventListener('abort', stop, { once: true });
  if (options.signal.aborted) stop();
  await transport.ended;
  options.signal.removeEventListener('abort', stop);
}
