import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server';
import { batchFault, createBatches, hasBatches, splitBatch } from './batches.ts';
import { createFrameReader } from './frames.ts';
import { asMessage, CODE, isId, isSelfDescribing, parseLine } from './messages.ts';

/** Bytes of one request. */
export const MAX_REQUEST_BYTES = 10 * 1024 * 1024;
/** How long requests that are under way may still be answered once nobody can send more. */
const LAST_ANSWERS_MS = 1_000;

export interface StreamTransportOptions {
  readonly maxRequestBytes?: number;
  /** Told what was wrong with a frame, for a log. */
  onFault?(text: string): void;
}

/** A transport over two streams that can be waited for. */
export interface StreamTransport extends Transport {
  /** Resolves once the connection is over, however it ended. */
  readonly ended: Promise<void>;
}

/**
 * One JSON-RPC message a line. Whatever comes in is answered: a line that is no JSON, no message or
 * longer than the limit (10 MiB) with an error, and the connection goes on. A message without protocol
 * metadata is passed on only after `initialize` succeeded; before that only `ping` is answered. While
 * the other side does not read, nothing more is read from it. A reader that went away ends the
 * connection like any other end. When the input ends, requests under way have one second.
 */
export function createStreamTransport(input: Readable, output: Writable, options: StreamTransportOptions = {}): StreamTransport {
  const maxBytes = options.maxRequestBytes ?? MAX_REQUEST_BYTES;
  const ended = Promise.withResolvers<void>();
  const open = new Set<RequestId>();
  let handshake: RequestId | undefined;
  /** Came while `initialize` was under way: whether they are admitted is not known before its end. */
  let early: (() => void)[] = [];
  let initialised = false;
  let batching = false;
  let closed = false;
  /** The input ended; what is under way may still be answered. */
  let isLast = false;
  let stopWaiting = (): void => {};

  const write = (message: object): boolean => {
    if (closed || output.destroyed || !output.writable) return false;
    if (!output.write(`${JSON.stringify(message)}\n`)) input.pause();
    return true;
  };

  const fail = (code: number, message: string, id?: RequestId): void => {
    options.onFault?.(message);
    write({ jsonrpc: '2.0', id: id ?? null, error: { code, message } });
  };

  const admits = (message: JSONRPCMessage): boolean => {
    if (initialised || isSelfDescribing(message)) return true;
    if (!('method' in message)) return false;
    const id = 'id' in message ? message.id : undefined;
    if (message.method === 'initialize' && id !== undefined) {
      handshake = id;
      return true;
    }
    if (id === undefined) return false;
    if (message.method === 'ping') write({ jsonrpc: '2.0', id, result: {} });
    else fail(CODE.invalidRequest, `Invalid Request: ${message.method.slice(0, 80)} without protocol metadata, before initialize`, id);
    return false;
  };

  const batches = createBatches((answers) => write(answers));

  const deliver = (message: JSONRPCMessage): void => {
    if (!admits(message)) return;
    if ('method' in message && 'id' in message) {
      // Two answers with one id could not be told apart.
      if (open.has(message.id)) {
        fail(CODE.invalidRequest, 'Invalid Request: a request with this id is under way', message.id);
        return;
      }
      open.add(message.id);
    }
    if ('method' in message && message.method === 'notifications/cancelled') {
      const cancelled = message.params?.requestId;
      if (isId(cancelled)) {
        open.delete(cancelled);
        batches.drop(cancelled);
      }
    }
    transport.onmessage?.(message);
  };

  const deliverBatch = (values: readonly unknown[]): void => {
    const fault = batching ? batchFault(values) : 'this version has no batches; send one message a line';
    if (fault !== undefined) {
      fail(CODE.invalidRequest, `Invalid Request: ${fault}`);
      return;
    }
    const { messages, ids, refused } = splitBatch(values, (id) => open.has(id));
    batches.begin(ids, refused);
    for (const message of messages) deliver(message);
  };

  /** Once the handshake that is under way ended. */
  const inTurn = (work: () => void): void => {
    if (handshake === undefined) work();
    else {
      early.push(work);
      input.pause();
    }
  };

  const receive = (value: unknown): void => {
    const parsed = asMessage(value);
    if (Array.isArray(value)) deliverBatch(value);
    else if ('message' in parsed) deliver(parsed.message);
    else fail(parsed.code, parsed.text, parsed.id);
  };

  const reader = createFrameReader(maxBytes, {
    onFrame(frame) {
      const line = parseLine(frame);
      if (line === undefined) fail(CODE.parse, 'Parse error: the line is not JSON in UTF-8');
      else inTurn(() => receive(line.value));
    },
    onTooLong: (bytes) => fail(CODE.invalidRequest, `Invalid Request: ${bytes} bytes in one line, the limit is ${maxBytes}`),
  });

  const onData = (chunk: Buffer): void => reader.push(chunk);
  const onDrain = (): void => {
    if (handshake === undefined) input.resume();
  };
  const handshakeEnded = (answer: JSONRPCMessage): void => {
    handshake = undefined;
    if ('result' in answer) {
      initialised = true;
      batching = hasBatches(answer.result.protocolVersion);
    }
    const waiting = early;
    early = [];
    // One of them may begin another handshake, which those behind it wait for.
    for (const work of waiting) inTurn(work);
    if (handshake === undefined && !output.writableNeedDrain) input.resume();
  };
  const onEnd = (): void => {
    reader.end();
    if (open.size === 0) void transport.close();
    else {
      const timer = setTimeout(() => void transport.close(), LAST_ANSWERS_MS);
      stopWaiting = () => clearTimeout(timer);
      input.off('close', onGone);
      isLast = true;
    }
  };
  const onGone = (): void => void transport.close();

  const transport: StreamTransport = {
    ended: ended.promise,
    async start() {
      // A write into a pipe that nobody reads must never become an uncaught error, also not a late one.
      output.on('error', onGone);
      output.on('close', onGone);
      output.on('drain', onDrain);
      input.on('error', onGone);
      input.on('end', onEnd);
      input.on('close', onGone);
      input.on('data', onData);
      if (input.readableEnded || input.destroyed) onGone();
    },
    async send(message) {
      const id = 'id' in message && !('method' in message) ? message.id : undefined;
      if (id === undefined || !batches.take(id, message)) write(message);
      if (id !== undefined) open.delete(id);
      if (id !== undefined && id === handshake) handshakeEnded(message);
      if (isLast && open.size === 0) void transport.close();
    },
    async close() {
      if (closed) return;
      closed = true;
      stopWaiting();
      input.off('data', onData);
      input.off('end', onEnd);
      input.pause();
      output.off('drain', onDrain);
      transport.onclose?.();
      ended.resolve();
    },
  };
  return transport;
}
