import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server';
import { asMessage, CODE } from './messages.ts';

/** Versions whose messages may come in a list. Later ones took that out again. */
const WITH_BATCHES: ReadonlySet<unknown> = new Set(['2025-03-26', '2024-11-05']);
/** Messages of one batch. */
const MAX_BATCH = 100;

export function hasBatches(protocolVersion: unknown): boolean {
  return WITH_BATCHES.has(protocolVersion);
}

/** What is wrong with the size of a batch. */
export function batchFault(values: readonly unknown[]): string | undefined {
  if (values.length >= 1 && values.length <= MAX_BATCH) return undefined;
  return `${values.length} messages in a batch, allowed are 1 to ${MAX_BATCH}`;
}

/** The messages of a batch, the ids of its requests, and the answers to what cannot be passed on. */
export function splitBatch(
  values: readonly unknown[],
  isTaken: (id: RequestId) => boolean,
): { readonly messages: readonly JSONRPCMessage[]; readonly ids: readonly RequestId[]; readonly refused: readonly object[] } {
  const messages: JSONRPCMessage[] = [];
  const ids = new Set<RequestId>();
  const refused: object[] = [];
  const refuse = (text: string, id: RequestId | undefined): void =>
    void refused.push({ jsonrpc: '2.0', id: id ?? null, error: { code: CODE.invalidRequest, message: text } });
  for (const value of values) {
    const parsed = asMessage(value);
    if (!('message' in parsed)) {
      refuse(parsed.text, parsed.id);
      continue;
    }
    const { message } = parsed;
    const id = 'method' in message && 'id' in message ? message.id : undefined;
    if (id !== undefined && (ids.has(id) || isTaken(id))) refuse('Invalid Request: a request with this id is under way', id);
    else {
      messages.push(message);
      if (id !== undefined) ids.add(id);
    }
  }
  return { messages, ids: [...ids], refused };
}

interface Batch {
  readonly open: Set<RequestId>;
  readonly answers: object[];
}

/** Answers that are sent together because their requests came together. */
export interface Batches {
  /** Begins a batch of these requests. `answers`: what was refused at once. */
  begin(requests: readonly RequestId[], answers: readonly object[]): void;
  /** True: the answer belongs to a batch and goes out with it. */
  take(id: RequestId, answer: object): boolean;
  /** There will be no answer for this request. */
  drop(id: RequestId): void;
}

/** `write` gets the answers of a batch once the last of its requests has one. A batch without any writes nothing. */
export function createBatches(write: (answers: readonly object[]) => void): Batches {
  const byRequest = new Map<RequestId, Batch>();

  const settle = (id: RequestId, batch: Batch): void => {
    byRequest.delete(id);
    batch.open.delete(id);
    if (batch.open.size === 0 && batch.answers.length > 0) write(batch.answers);
  };

  return {
    begin(requests, answers) {
      const batch: Batch = { open: new Set(requests), answers: [...answers] };
      for (const id of requests) byRequest.set(id, batch);
      if (requests.length === 0 && answers.length > 0) write(batch.answers);
    },
    take(id, answer) {
      const batch = byRequest.get(id);
      if (batch === undefined) return false;
      batch.answers.push(answer);
      settle(id, batch);
      return true;
    },
    drop(id) {
      const batch = byRequest.get(id);
      if (batch !== undefined) settle(id, batch);
    },
  };
}
