import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server';
import { createFrameReader } from './frames.ts';

/** Bytes of one request. */
export const MAX_REQUEST_BYTES = 10 * 1024 * 1024;
/** How long requests that are under way may still be answered once nobody can send more. */
const LAST_ANSWERS_MS = 1_000;
const PROTOCOL_KEY = 'io.modelcontextprotocol/protocolVersion';

const CODE = { parse: -32_700, invalidRequest: -32_600 } as const;

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

type Parsed = { readonly message: JSONRPCMessage } | { readonly code: number; readonly text: string; readonly id?: RequestId };

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

const isId = (value: unknown): value is RequestId => typeof value === 'string' || Number.isSafeInteger(value);

function parseFrame(frame: Buffer): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(frame));
  } catch {
    return { code: CODE.parse, text: 'Parse error: the line is not JSON in UTF-8' };
  }
  return asMessage(value);
}

/** The least that JSON-RPC asks for. Parameters and results are checked where their method is known. */
function asMessage(value: unknown): Parsed {
  if (Array.isArray(value)) return { code: CODE.invalidRequest, text: 'Invalid Request: batches are not served; send one message a line' };
  if (!isObject(value)) return { code: CODE.invalidRequest, text: 'Invalid Request: a message is a JSON object' };
  const { id, method, params } = value;
  const named = isId(id) ? { id } : {};
  const refused = (text: string): Parsed => ({ code: CODE.invalidRequest, text: `Invalid Request: ${text}`, ...named });
  if (value.jsonrpc !== '2.0') return refused('"jsonrpc" must be "2.0"');
  if (id !== undefined && !isId(id)) return refused('"id" must be a text or an integer');
  if (method === undefined) {
    const isResponse = id !== undefined && (isObject(value.result) || isObject(value.error));
    return isResponse ? { message: value as unknown as JSONRPCMessage } : refused('there is neither a method nor a result');
  }
  if (typeof method !== 'string') return refused('"method" must be a text');
  if (params !== undefined && !isObject(params)) return refused('"params" must be an object');
  return { message: value as unknown as JSONRPCMessage };
}

/** Whether the message says itself which protocol it speaks. */
function isSelfDescribing(message: JSONRPCMessage): boolean {
  const params = 'params' in message ? message.params : undefined;
  const meta = isObject(params) ? params._meta : undefined;
  return isObject(meta) && PROTOCOL_KEY in meta;
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
  let early: JSONRPCMessage[] = [];
  let initialised = false;
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

  const deliver = (message: JSONRPCMessage): void => {
    if (handshake !== undefined) {
      early.push(message);
      input.pause();
      return;
    }
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
      if (isId(cancelled)) open.delete(cancelled);
    }
    transport.onmessage?.(message);
  };

  const reader = createFrameReader(maxBytes, {
    onFrame(frame) {
      const parsed = parseFrame(frame);
      if ('message' in parsed) deliver(parsed.message);
      else fail(parsed.code, parsed.text, parsed.id);
    },
    onTooLong: (bytes) => fail(CODE.invalidRequest, `Invalid Request: ${bytes} bytes in one line, the limit is ${maxBytes}`),
  });

  const onData = (chunk: Buffer): void => reader.push(chunk);
  const onDrain = (): void => {
    if (handshake === undefined) input.resume();
  };
  const handshakeEnded = (succeeded: boolean): void => {
    handshake = undefined;
    initialised ||= succeeded;
    const waiting = early;
    early = [];
    for (const message of waiting) deliver(message);
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
      write(message);
      if (id !== undefined) open.delete(id);
      if (id !== undefined && id === handshake) handshakeEnded('result' in message);
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
