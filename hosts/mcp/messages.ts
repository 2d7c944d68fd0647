import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';

const PROTOCOL_KEY = 'io.modelcontextprotocol/protocolVersion';

export const CODE = { parse: -32_700, invalidRequest: -32_600 } as const;

export type Parsed = { readonly message: JSONRPCMessage } | { readonly code: number; readonly text: string; readonly id?: RequestId };

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

export const isId = (value: unknown): value is RequestId => typeof value === 'string' || Number.isSafeInteger(value);

/** What a line holds. Rejects nothing: `undefined` stands for what is not JSON in UTF-8. */
export function parseLine(line: Buffer): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line)) };
  } catch {
    return undefined;
  }
}

/** The least that JSON-RPC asks for. Parameters and results are checked where their method is known. */
export function asMessage(value: unknown): Parsed {
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
export function isSelfDescribing(message: JSONRPCMessage): boolean {
  const params = 'params' in message ? message.params : undefined;
  const meta = isObject(params) ? params._meta : undefined;
  return isObject(meta) && PROTOCOL_KEY in meta;
}
