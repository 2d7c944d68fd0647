import type { JournalRecord, SessionStore, SessionWriter } from '../../ports/session.ts';
import { SessionError } from '../../ports/session.ts';
import { movableClock } from '../adapters/store/fixture.ts';
import { createMemoryPlace, type MemoryPlace } from '../fakes/session-store.ts';
import type { SessionPlace, SessionStoreHarness } from './session-store.suite.ts';
import type { BrokenAdapter } from './suite.ts';

/** How a broken adapter differs from the memory store. */
interface Fault {
  store?(store: SessionStore, place: MemoryPlace): Partial<SessionStore>;
  writer?(writer: SessionWriter, store: SessionStore): Partial<SessionWriter>;
  place?(place: SessionPlace): Partial<SessionPlace>;
}

function withWriters(store: SessionStore, wrap: (writer: SessionWriter) => Partial<SessionWriter>): SessionStore {
  return {
    ...store,
    async create(session) {
      const writer = await store.create(session);
      return { ...writer, ...wrap(writer) };
    },
    async open(id, options, signal) {
      const writer = await store.open(id, options, signal);
      return { ...writer, ...wrap(writer) };
    },
  };
}

/** The memory store as a place of the suite, with or without a fault. */
export function memoryPlace(fault: Fault = {}): SessionPlace {
  const clock = movableClock();
  const memory = createMemoryPlace({ clock });
  let pids = 100;
  const build = (pid: number, surface: string): SessionStore => {
    const plain = memory.store(pid, surface);
    const store = { ...plain, ...fault.store?.(plain, memory) };
    return fault.writer === undefined ? store : withWriters(store, (writer) => fault.writer?.(writer, plain) ?? {});
  };
  const place: SessionPlace = {
    async open() {
      const pid = pids++;
      return { store: build(pid, `surface-${pid}`), pid, surface: `surface-${pid}` };
    },
    async crashedWriter(session, records) {
      const pid = pids++;
      await (await build(pid, 'run').create(session)).append(records);
      memory.kill(pid);
    },
    abandonLeases: async () => memory.abandonLeases(),
    rowsTouched: memory.rowsTouched,
    advance: clock.move,
    close: async () => {},
  };
  return { ...place, ...fault.place?.(place) };
}

function broken(name: string, caughtBy: string, fault: Fault): BrokenAdapter<SessionStoreHarness> {
  return { name, caughtBy: `session-store/${caughtBy}`, harness: { place: async () => memoryPlace(fault) } };
}

async function orElse<T>(work: Promise<T>, code: string, instead: () => T | Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SessionError && error.code === code) return instead();
    throw error;
  }
}

/** Appends that are lost when their process is killed: they wait in memory until the writer is closed. */
function buffering(): Fault {
  return {
    writer: (writer) => {
      const waiting: JournalRecord[] = [];
      let seq = writer.records.length;
      return {
        async append(records) {
          JSON.stringify(records);
          waiting.push(...records);
          seq += records.length;
          return seq;
        },
        async close(options) {
          await writer.append(waiting.splice(0));
          await writer.close(options);
        },
      };
    },
  };
}

const rewriting: Fault = {
  place: (place) => {
    let extra = 0;
    return {
      rowsTouched: () => place.rowsTouched() + extra,
      async open() {
        const opened = await place.open();
        const { store } = opened;
        const count = async (id: string): Promise<void> => {
          extra += (await store.read(id)).records.length;
        };
        const rewritten = withWriters(store, (writer) => ({
          async append(records) {
            const seq = await writer.append(records);
            await count(writer.header.id);
            return seq;
          },
        }));
        return { ...opened, store: rewritten };
      },
    };
  },
};

export const brokenSessionStores: readonly BrokenAdapter<SessionStoreHarness>[] = [
  broken('gives journals back in reverse', 'read-back', {
    store: (store) => ({
      read: async (id) => {
        const { header, records } = await store.read(id);
        return { header, records: [...records].reverse() };
      },
    }),
  }),
  broken('never counts', 'counters', {
    store: (store) => ({
      read: async (id) => {
        const { header, records } = await store.read(id);
        return { header: { ...header, turns: 0 }, records };
      },
    }),
  }),
  broken('keeps appends in memory until it is closed', 'killed-loses-nothing', buffering()),
  broken('lets a second writer in', 'one-writer', {
    store: (store, place) => ({
      open: async (id, options, signal) =>
        orElse(store.open(id, options, signal), 'session_busy', () => {
          place.abandonLeases();
          return store.open(id, options, signal);
        }),
    }),
  }),
  broken('names no holder', 'one-writer', {
    store: (store) => ({
      open: async (id, options, signal) =>
        orElse(store.open(id, options, signal), 'session_busy', () => {
          throw new SessionError('session_busy', 'busy');
        }),
    }),
  }),
  broken('does not listen to the signal', 'wait-cancelled', {
    store: (store) => ({ open: (id) => store.open(id, { waitMs: 50 }, new AbortController().signal) }),
  }),
  broken('lets an old holder write on', 'lease-lost', {
    writer: (writer, store) => ({
      append: async (records) =>
        orElse(writer.append(records), 'lease_lost', async () => (await store.read(writer.header.id)).records.length),
    }),
  }),
  broken('waits for the dead', 'dead-holder', {
    place: (place) => ({
      async crashedWriter(session, records) {
        const { store } = await place.open();
        await (await store.create(session)).append(records);
      },
    }),
  }),
  broken('refuses to read while somebody writes', 'readers-free', {
    store: (store) => ({
      read: async (id) => {
        await (await store.open(id, { waitMs: 20 }, new AbortController().signal)).close();
        return store.read(id);
      },
    }),
  }),
  broken('rewrites the journal at each append', 'append-cost', rewriting),
  broken('stores one record after the other', 'failures-harmless', {
    writer: (writer) => ({
      async append(records) {
        let seq = await writer.append([]);
        for (const record of records) seq = await writer.append([record]);
        return seq;
      },
    }),
  }),
  broken('takes any id', 'failures-harmless', {
    store: (store) => ({ read: (id) => orElse(store.read(id), 'invalid_session_id', () => store.read('absent')) }),
  }),
  broken('lists the oldest first', 'newest-first', {
    store: (store) => ({ find: async (query) => [...(await store.find(query))].reverse() }),
  }),
  broken('lists ephemeral sessions', 'newest-first', {
    store: (store) => ({ find: (query) => store.find({ ...query, unlisted: true }) }),
  }),
  broken('takes the text for syntax', 'full-text', {
    store: (store) => ({
      find: async (query) => {
        if (query.text?.includes('"')) throw new Error('unterminated string');
        return store.find(query);
      },
    }),
  }),
  broken('ignores the text', 'full-text', {
    store: (store) => ({
      find: ({ text: _, ...query }) => store.find(query),
    }),
  }),
  broken('removes what is held', 'remove', {
    store: (store, place) => ({
      remove: (ids) => {
        place.abandonLeases();
        return store.remove(ids);
      },
    }),
  }),
  broken('discards nothing', 'discard', { writer: (writer) => ({ close: () => writer.close() }) }),
];
