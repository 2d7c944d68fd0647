import type { Duplex } from 'node:stream';
import { createFrameReader, encodeFrame, MAX_FRAME_BYTES } from './frames.ts';
import { CANCEL_METHOD, CANCEL_PARAMS, MAX_IN_FLIGHT, METHODS, type Method, RPC, type Side } from './protocol.ts';
import { anything, closed, integer, text } from './shapes.ts';

/** An answer that says no, as it is on the wire. */
export class RpcFault extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export interface ChannelOptions {
  readonly side: Side;
  readonly stream: Duplex;
  /** Answers a request; what it throws is sent as its {@link RpcFault}, or as failed. */
  answer(method: string, params: unknown, signal: AbortSignal): Promise<unknown>;
  notice(method: string, params: unknown): void;
  /** The other side broke the protocol. Told once; nothing is read or sent afterwards. */
  violated(reason: string): void;
}

export interface Channel {
  /**
   * Rejects with {@link RpcFault}; `cancelled` 500 ms after `signal` fired at the latest, whatever the
   * other side does; with what `end` was given when the channel ends.
   */
  request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown>;
  /** Left out while too much waits to be read. */
  notify(method: string, params: unknown): void;
  /** Requests sent whose answer is not here, withdrawn ones among them. */
  pending(): number;
  /** Everything that waits rejects with `reason`; what is being answered is withdrawn. Idempotent. */
  end(reason: Error): void;
}

interface Waiting {
  readonly method: Method;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const CANCEL_GRACE_MS = 500;
/** Bytes that wait to be taken by the other side. */
const MAX_BUFFERED = 2 * MAX_FRAME_BYTES;
/** Requests of a host within a second; more is a flood. */
const MAX_RATE = 2_000;
const RATE_MS = 1_000;
const PING = 'host/ping';
const MAX_MESSAGE = 8_000;

const REQUEST = closed({ jsonrpc: anything, id: integer(1, Number.MAX_SAFE_INTEGER), method: text(64), params: anything });
const NOTICE = closed({ jsonrpc: anything, method: text(64), params: anything });
const RESULT = closed({ jsonrpc: anything, id: integer(1, Number.MAX_SAFE_INTEGER), result: anything });
const ERROR = closed({
  jsonrpc: anything,
  id: integer(1, Number.MAX_SAFE_INTEGER),
  error: closed({ code: integer(-40_000, 40_000), message: text(MAX_FRAME_BYTES) }, { data: anything }),
});

type Message = Readonly<Record<string, unknown>>;

export function createChannel(options: ChannelOptions): Channel {
  const { side, stream } = options;
  const waiting = new Map<number, Waiting>();
  const answering = new Map<number, { readonly controller: AbortController; readonly isPing: boolean }>();
  let lastId = 0;
  let ended: Error | undefined;
  let second = 0;
  let inSecond = 0;

  /** Core stays of use whatever a host sends. */
  const isFlood = (): boolean => {
    const now = performance.now();
    if (now - second >= RATE_MS) {
      second = now;
      inSecond = 0;
    }
    inSecond += 1;
    return side === 'core' && inSecond > MAX_RATE;
  };

  const violate = (reason: string) => {
    if (ended !== undefined) return;
    end(new RpcFault(RPC.request, reason));
    options.violated(reason);
  };

  const end = (reason: Error): void => {
    if (ended !== undefined) return;
    ended = reason;
    for (const each of waiting.values()) each.reject(reason);
    waiting.clear();
    for (const { controller } of answering.values()) controller.abort();
    answering.clear();
  };

  /** False: the message is larger than a frame. */
  const send = (message: unknown): boolean => {
    if (ended !== undefined) return true;
    const frame = encodeFrame(message);
    if (frame === undefined) return false;
    stream.cork();
    for (const part of frame) stream.write(part);
    stream.uncork();
    return true;
  };

  const isSentBy = (who: Side, method: Method): boolean => method.from === who;
  const other: Side = side === 'core' ? 'host' : 'core';

  const received = (message: unknown) => {
    if (ended !== undefined) return;
    if (typeof message !== 'object' || message === null || (message as Message).jsonrpc !== '2.0')
      return violate('a message is no JSON-RPC 2.0');
    if ('method' in message) return 'id' in message ? onRequest(message as Message) : onNotice(message as Message);
    onAnswer(message as Message);
  };

  const methodOf = (message: Message): Method | undefined => {
    const name = message.method as string;
    const method = typeof name === 'string' && Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
    return method !== undefined && isSentBy(other, method) ? method : undefined;
  };

  const onRequest = (message: Message) => {
    const method = methodOf(message);
    const name = String(message.method).slice(0, 64);
    const fault = REQUEST(message, 'a request');
    if (fault !== undefined) return violate(fault);
    if (method?.result === undefined) return violate(`the ${other} may not ask for "${name}"`);
    const wrong = method.params(message.params, `params of ${name}`);
    if (wrong !== undefined) return violate(wrong);
    if (isFlood()) return violate(`more than ${MAX_RATE} requests came within a second`);
    const id = message.id as number;
    if (answering.has(id)) return violate(`the id ${id} is in use`);
    const isPing = name === PING;
    const busy = [...answering.values()].filter((each) => each.isPing === isPing).length;
    if (busy >= (isPing ? 1 : MAX_IN_FLIGHT)) return violate(`more than ${MAX_IN_FLIGHT} requests wait`);
    void answer(id, name, message.params, isPing);
  };

  const answer = async (id: number, name: string, params: unknown, isPing: boolean) => {
    const controller = new AbortController();
    answering.set(id, { controller, isPing });
    let reply: unknown;
    try {
      const result = await options.answer(name, params, controller.signal);
      reply = { jsonrpc: '2.0', id, result: result === undefined ? {} : result };
    } catch (error) {
      reply = { jsonrpc: '2.0', id, error: errorOf(error) };
    }
    // The other side was told of the end already, or the id would be free before its answer is out.
    if (!answering.delete(id)) return;
    // What nobody reads stays in memory.
    if (side === 'core' && stream.writableLength > MAX_BUFFERED) return violate('it does not read what it asked for');
    if (!sendSafely(send, reply)) {
      send({
        jsonrpc: '2.0',
        id,
        error: { code: RPC.failed, message: `the answer is over the limit of ${MAX_FRAME_BYTES} bytes or no JSON` },
      });
    }
  };

  const onNotice = (message: Message) => {
    const fault = NOTICE(message, 'a notice');
    if (fault !== undefined) return violate(fault);
    const name = String(message.method).slice(0, 64);
    if (name === CANCEL_METHOD) {
      const wrong = CANCEL_PARAMS(message.params, 'params of $/cancel');
      if (wrong !== undefined) return violate(wrong);
      answering.get((message.params as { readonly id: number }).id)?.controller.abort();
      return;
    }
    const method = methodOf(message);
    if (method === undefined || method.result !== undefined) return violate(`the ${other} may not tell "${name}"`);
    const wrong = method.params(message.params, `params of ${name}`);
    if (wrong !== undefined) return violate(wrong);
    options.notice(name, message.params);
  };

  const onAnswer = (message: Message) => {
    const isError = 'error' in message;
    const fault = (isError ? ERROR : RESULT)(message, 'an answer');
    if (fault !== undefined) return violate(fault);
    const id = message.id as number;
    const waits = waiting.get(id);
    if (waits === undefined) return violate(`nothing was asked with the id ${id}`);
    if (isError) {
      waiting.delete(id);
      const { code, message: words, data } = message.error as { readonly code: number; readonly message: string; readonly data?: unknown };
      return waits.reject(new RpcFault(code, words.slice(0, MAX_MESSAGE), data));
    }
    const wrong = waits.method.result?.(message.result, 'the result');
    if (wrong !== undefined) return violate(wrong);
    waiting.delete(id);
    waits.resolve(message.result);
  };

  const request = async (name: string, params: unknown, signal?: AbortSignal): Promise<unknown> => {
    if (ended !== undefined) throw ended;
    const method = METHODS[name];
    if (method?.result === undefined || !isSentBy(side, method)) throw new RpcFault(RPC.method, `${side} cannot ask for "${name}"`);
    if (signal?.aborted === true) throw new RpcFault(RPC.cancelled, 'cancelled');
    if (name !== PING && waiting.size >= MAX_IN_FLIGHT) throw new RpcFault(RPC.internal, `${MAX_IN_FLIGHT} requests wait already`, 'busy');
    if (stream.writableLength > MAX_BUFFERED) throw new RpcFault(RPC.internal, 'what was sent is not being read', 'busy');
    lastId += 1;
    const id = lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    waiting.set(id, { method, resolve, reject });
    if (!sendSafely(send, { jsonrpc: '2.0', id, method: name, params })) {
      waiting.delete(id);
      throw new RpcFault(RPC.params, `the request is over the limit of ${MAX_FRAME_BYTES} bytes or no JSON`, 'too-large');
    }
    let timer: NodeJS.Timeout | undefined;
    const withdraw = (): void => {
      if (!waiting.has(id)) return;
      send({ jsonrpc: '2.0', method: CANCEL_METHOD, params: { id } });
      // Its place stays taken until the answer is here, or the count of the other side would differ.
      timer = setTimeout(() => reject(new RpcFault(RPC.cancelled, 'cancelled')), CANCEL_GRACE_MS);
    };
    signal?.addEventListener('abort', withdraw, { once: true });
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', withdraw);
    }
  };

  const reader = createFrameReader({ message: received, fault: violate });
  stream.on('data', (chunk: Buffer) => reader.push(chunk));

  return {
    request,
    notify(method, params) {
      if (stream.writableLength > MAX_BUFFERED) return;
      send({ jsonrpc: '2.0', method, params });
    },
    pending: () => waiting.size,
    end,
  };
}

function sendSafely(send: (message: unknown) => boolean, message: unknown): boolean {
  try {
    return send(message);
  } catch {
    return false;
  }
}

function errorOf(error: unknown): { readonly code: number; readonly message: string; readonly data?: unknown } {
  if (error instanceof RpcFault)
    return { code: error.code, message: error.message.slice(0, MAX_MESSAGE), ...(error.data !== undefined && { data: error.data }) };
  return { code: RPC.failed, message: messageOf(error).slice(0, MAX_MESSAGE) };
}

/** What a thrown value says. It is foreign: looking at it may throw as well. */
export function messageOf(error: unknown): string {
  try {
    const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
    return String(message);
  } catch {
    return 'something was thrown that cannot be shown';
  }
}
