import type { HttpResponse } from '../../ports/http.ts';
import { TransportFault } from './faults.ts';
import { isFields } from './fields.ts';
import { createEventReader } from './sse.ts';

export type Message = Record<PropertyKey, unknown>;

/** What a stream left behind. */
export interface StreamEnd {
  /** Of the last event that had one: the stream can be taken up after it. */
  readonly lastId: string | undefined;
  /** Milliseconds that the server wants a client to wait before. */
  readonly retryMs: number | undefined;
  /** Why it broke off; undefined when it came to its end. */
  readonly broken: unknown;
}

/** Reads the messages of a stream of events. Throws {@link TransportFault} for one of more than `maxBytes`; nothing is read on then. */
export async function readStream(
  response: HttpResponse,
  maxBytes: number,
  onMessage: (message: Message, bytes: number) => void,
): Promise<StreamEnd> {
  let fault: TransportFault | undefined;
  let broken: unknown;
  const reader = createEventReader({
    maxBytes,
    onEvent({ event, data, bytes }) {
      if (event === 'message') for (const message of parseMessages(data) ?? []) onMessage(message, bytes);
    },
    onTooLong(bytes) {
      fault = new TransportFault({ kind: 'too_large', bytes });
    },
  });
  try {
    for await (const chunk of response.body) {
      reader.push(chunk);
      if (fault !== undefined) break;
    }
    reader.end();
  } catch (error) {
    broken = error;
  }
  if (fault !== undefined) {
    response.cancel();
    throw fault;
  }
  return { lastId: reader.lastId, retryMs: reader.retryMs, broken };
}

/** One message or several; undefined for text that is no JSON-RPC. */
export function parseMessages(text: string): readonly Message[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
  return messages.every((each) => isFields(each) && each.jsonrpc === '2.0') ? (messages as readonly Message[]) : undefined;
}
