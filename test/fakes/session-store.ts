import type { Clock } from '../../ports/clock.ts';
import { CancelledError } from '../../ports/errors.ts';
import {
  type JournalRecord,
  SessionError,
  type SessionHeader,
  type SessionHolder,
  type SessionQuery,
  type SessionStore,
  type SessionWriter,
  type StoredRecord,
} from '../../ports/session.ts';

interface Lease extends SessionHolder {
  readonly token: number;
}

interface Entry {
  header: SessionHeader;
  readonly records: StoredRecord[];
  lease?: Lease;
}

/** Memory that several stores share, as several processes share one file. */
export interface MemoryPlace {
  /** A store as process `pid` would have it. */
  store(pid: number, surface: string): SessionStore;
  /** The process is gone without having closed anything. */
  kill(pid: number): void;
  /** Every lease of now looks abandoned, as if its process were suspended for long. */
  abandonLeases(): void;
  /** Rows written so far, a measure of work. */
  rowsTouched(): number;
}

const POLL_MS = 5;

function checkId(id: string): void {
  if (/^(?!\.)[A-Za-z0-9_.-]{1,128}$/.test(id)) return;
  throw new SessionError('invalid_session_id', `${JSON.stringify(id)} is not a session id`, { value: id, limit: 128 });
}

function advance(header: SessionHeader, records: readonly JournalRecord[], at: number): SessionHeader {
  let { turns, messages, input, output } = header;
  for (const record of records) {
    if (record.kind === 'message' || record.kind === 'tool_finished') messages++;
    if (record.kind === 'message' && record.message.role === 'user') turns++;
    if (record.kind === 'usage') {
      input += record.usage.input;
      output += record.usage.output;
    }
  }
  return { ...header, turns, messages, input, output, updatedAt: at };
}

function words(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function textOf(entry: Entry): string[] {
  const said = entry.records.flatMap(({ record }) =>
    record.kind === 'message' && record.message.role !== 'system' ? words(record.message.content) : [],
  );
  return [...words(entry.header.title), ...said];
}

function matches(entry: Entry, query: SessionQuery): boolean {
  if (!entry.header.listed && query.unlisted !== true) return false;
  if (query.updatedBefore !== undefined && entry.header.updatedAt >= query.updatedBefore) return false;
  if (query.text === undefined) return true;
  const wanted = words(query.text);
  const present = textOf(entry);
  return wanted.length > 0 && wanted.every((word) => present.some((known) => known.startsWith(word)));
}

export function createMemoryPlace({ clock }: { readonly clock: Clock }): MemoryPlace {
  const entries = new Map<string, Entry>();
  const dead = new Set<number>();
  const abandoned = new Set<number>();
  let tokens = 0;
  let touched = 0;

  const live = (entry: Entry): Lease | undefined => {
    const { lease } = entry;
    return lease === undefined || dead.has(lease.pid) || abandoned.has(lease.token) ? undefined : lease;
  };

  const need = (id: string): Entry => {
    const entry = entries.get(id);
    if (entry === undefined) throw new SessionError('session_not_found', `there is no session ${id}`, { value: id });
    return entry;
  };

  const take = (entry: Entry, pid: number, surface: string): SessionWriter => {
    const lease: Lease = { pid, surface, since: clock.now(), token: ++tokens };
    entry.lease = lease;
    return createWriter(entry, lease);
  };

  const createWriter = (entry: Entry, lease: Lease): SessionWriter => {
    const { id } = entry.header;
    let open = true;
    const check = (): void => {
      if (open && entry.lease?.token === lease.token && entries.get(id) === entry) return;
      throw new SessionError('lease_lost', `session ${id} is not held by this writer`, { value: id });
    };
    return {
      header: entry.header,
      records: [...entry.records],
      async append(records) {
        check();
        let copies: JournalRecord[];
        try {
          copies = records.map((record) => JSON.parse(JSON.stringify(record)) as JournalRecord);
        } catch (cause) {
          throw new SessionError('store_error', 'a record is not plain JSON data', { cause });
        }
        const at = clock.now();
        for (const record of copies) entry.records.push({ seq: entry.records.length + 1, at, record });
        if (copies.length > 0) entry.header = advance(entry.header, copies, at);
        touched += copies.length;
        return entry.records.length;
      },
      async update(patch) {
        check();
        entry.header = { ...entry.header, ...patch, updatedAt: clock.now() };
        touched++;
      },
      async close(options) {
        if (!open) return;
        if (options?.discard === true) {
          check();
          entries.delete(id);
        }
        open = false;
        if (entry.lease?.token === lease.token) delete entry.lease;
      },
    };
  };

  const open = async (id: string, waitMs: number, signal: AbortSignal, pid: number, surface: string): Promise<SessionWriter> => {
    const deadline = clock.monotonic() + waitMs;
    for (;;) {
      if (signal.aborted) throw new CancelledError();
      const entry = need(id);
      const holder = live(entry);
      if (holder === undefined) return take(entry, pid, surface);
      if (clock.monotonic() >= deadline) {
        throw new SessionError('session_busy', `session ${id} is in use by process ${holder.pid}`, { value: id, limit: waitMs, holder });
      }
      await clock.sleep(Math.min(POLL_MS, waitMs), signal);
    }
  };

  const store = (pid: number, surface: string): SessionStore => ({
    async create(session) {
      checkId(session.id);
      if (entries.has(session.id)) throw new SessionError('session_exists', `session ${session.id} exists`, { value: session.id });
      const now = clock.now();
      const header = { ...session, createdAt: now, updatedAt: now, turns: 0, messages: 0, input: 0, output: 0 };
      const entry: Entry = { header, records: [] };
      entries.set(session.id, entry);
      touched++;
      return take(entry, pid, surface);
    },
    async open(id, { waitMs }, signal) {
      checkId(id);
      return open(id, waitMs, signal, pid, surface);
    },
    async read(id) {
      checkId(id);
      const entry = need(id);
      return { header: entry.header, records: [...entry.records] };
    },
    async find(query) {
      const found = [...entries.values()].reverse().filter((entry) => matches(entry, query));
      found.sort((a, b) => b.header.updatedAt - a.header.updatedAt);
      return found.slice(0, query.limit).map((entry) => entry.header);
    },
    async remove(ids) {
      const free = [...new Set(ids)].filter((id) => {
        const entry = entries.get(id);
        return entry !== undefined && live(entry) === undefined;
      });
      for (const id of free) entries.delete(id);
      return free.length;
    },
  });

  return {
    store,
    kill: (pid) => void dead.add(pid),
    abandonLeases() {
      for (const { lease } of entries.values()) if (lease !== undefined) abandoned.add(lease.token);
    },
    rowsTouched: () => touched,
  };
}

/** One store in memory, as the only process. */
export function createMemorySessionStore({ clock }: { readonly clock: Clock }): SessionStore {
  return createMemoryPlace({ clock }).store(1, 'run');
}
