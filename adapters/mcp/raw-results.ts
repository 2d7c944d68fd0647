import { isFields } from './fields.ts';

/** Where a result travels through the SDK. A spread keeps it. */
const RAW = Symbol('the result as it came');

export interface RawResult {
  readonly value: unknown;
  /** Bytes of the message that carried it. */
  readonly bytes: number;
}

type Message = Record<PropertyKey, unknown>;

/** Results that odek reads itself, and the least that the SDK takes for one. */
const READ_HERE: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'tools/list': { resultType: 'complete', tools: [], ttlMs: 0, cacheScope: 'private' },
  'tools/call': { resultType: 'complete', content: [] },
};

export interface RawResults {
  /** Notes what a message asks for. */
  sent(message: Message): void;
  /** The message to hand to the SDK. */
  received(message: Message, bytes: number): Message;
  /** No answer for this request is waited for any more. */
  forget(id: unknown): void;
}

/**
 * Lets the results of tools pass the SDK unread. Its schemas would refuse a whole page for one bad tool, leave a
 * result that is no object without an answer, and cost more than the rest of a call.
 */
export function createRawResults(): RawResults {
  const methods = new Map<unknown, string>();
  return {
    sent({ method, id, params }) {
      if (typeof method !== 'string') return;
      if (id !== undefined && Object.hasOwn(READ_HERE, method)) methods.set(id, method);
      else if (method === 'notifications/cancelled' && isFields(params)) methods.delete(params.requestId);
    },
    received(message, bytes) {
      const method = message.method === undefined ? methods.get(message.id) : undefined;
      if (method === undefined) return message;
      methods.delete(message.id);
      const { result } = message;
      // The SDK has to see what is no result yet.
      if (!('result' in message) || (isFields(result) && result.resultType !== undefined && result.resultType !== 'complete'))
        return message;
      const raw: RawResult = { value: result, bytes };
      return { jsonrpc: '2.0', id: message.id, result: { ...READ_HERE[method], [RAW]: raw } };
    },
    forget: (id) => void methods.delete(id),
  };
}

/** What a server answered, of what the SDK gave. */
export function rawResultOf(result: unknown): RawResult {
  const raw = isFields(result) ? (result[RAW] as RawResult | undefined) : undefined;
  return raw ?? { value: result, bytes: 0 };
}
