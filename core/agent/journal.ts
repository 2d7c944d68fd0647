import type { JournalRecord, SessionWriter } from '../../ports/session.ts';

/**
 * Appends to the session in order, joining what comes in together into one commit. A run makes two
 * commits an iteration: what was decided, and what came of it.
 */
export interface Journal {
  /** Resolves once the records, and everything queued before them, are stored, with the sequence number of the first. */
  append(records: readonly JournalRecord[]): Promise<number>;
  /** Queues records for the next `append` or `flush`. Resolves once they are stored, with the sequence number of the first. */
  defer(records: readonly JournalRecord[]): Promise<number>;
  flush(): Promise<void>;
  /** Messages stored by this journal, tool results included. */
  readonly messages: number;
}

function countMessages(records: readonly JournalRecord[]): number {
  return records.filter((record) => record.kind === 'message' || record.kind === 'tool_finished').length;
}

interface Waiting {
  readonly records: readonly JournalRecord[];
  readonly done: PromiseWithResolvers<number>;
}

export function createJournal(session: SessionWriter): Journal {
  let queue: Waiting[] = [];
  let writing: Promise<void> | undefined;
  let messages = session.header.messages;

  const writeAll = async (): Promise<void> => {
    // One turn of the microtask queue lets results that arrive together share a commit.
    await undefined;
    while (queue.length > 0) {
      const taken = queue;
      queue = [];
      try {
        const records = taken.flatMap((entry) => entry.records);
        let seq = (await session.append(records)) - records.length + 1;
        messages += countMessages(records);
        for (const entry of taken) {
          entry.done.resolve(seq);
          seq += entry.records.length;
        }
      } catch (error) {
        for (const entry of taken) entry.done.reject(error);
      }
    }
    // In the same turn as the last look at the queue: whatever comes later has to start anew.
    writing = undefined;
  };

  const flush = (): Promise<void> => {
    writing ??= writeAll();
    return writing;
  };

  const defer = (records: readonly JournalRecord[]): Promise<number> => {
    const done = Promise.withResolvers<number>();
    // A deferred write may fail when nobody waits for it; whoever flushes next sees the failure of the store again.
    done.promise.catch(() => {});
    queue.push({ records, done });
    return done.promise;
  };

  return {
    append: (records) => {
      const stored = defer(records);
      void flush();
      return stored;
    },
    defer,
    flush,
    get messages() {
      return messages;
    },
  };
}
