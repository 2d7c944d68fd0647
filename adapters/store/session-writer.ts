import type { Clock } from '../../ports/clock.ts';
import { type JournalRecord, SessionError, type SessionPatch, type SessionWriter } from '../../ports/session.ts';
import type { OpenAudit } from './audit.ts';
import type { Database } from './database.ts';
import { count, searchable, toJson, toText } from './journal-rows.ts';
import { HELD, keepLease, type Lease, leaseValues, releaseLease } from './lease.ts';
import { RECORDS_PER_SESSION } from './migrations.ts';
import { erase, INSERT_SEARCH, keys, type LoadedSession, setTitle } from './session-rows.ts';
import { recordUsage } from './usage.ts';

/** The lease is checked and the counters move in the one statement that reserves the sequence numbers. */
const ADVANCE = `UPDATE sessions SET last_seq = last_seq + ?, turns = turns + ?, messages = messages + ?, input = input + ?,
  output = output + ?, updated_at = ?, holder_beat = ? WHERE ${HELD} RETURNING last_seq`;
const INSERT_RECORD = 'INSERT INTO records (id, at, kind, json) VALUES (?, ?, ?, ?)';
const SELECT_HELD = `SELECT last_seq FROM sessions WHERE ${HELD}`;

function patchColumns(patch: SessionPatch): [column: string, value: string | number][] {
  const columns: [string, string | number][] = [];
  for (const name of ['title', 'provider', 'model'] as const) {
    const value = patch[name];
    if (value !== undefined) columns.push([name, toText(value)]);
  }
  if (patch.listed !== undefined) columns.push(['listed', Number(patch.listed)]);
  if (patch.externalRefs !== undefined) columns.push(['external_refs', JSON.stringify(patch.externalRefs)]);
  if (patch.lastRun !== undefined) columns.push(['last_run_id', toText(patch.lastRun.id)], ['last_run_state', patch.lastRun.state]);
  return columns;
}

function lost(id: string): SessionError {
  const message = `another process took session ${id} over; nothing was stored, and this run can no longer write to it`;
  return new SessionError('lease_lost', message, { value: id });
}

function closed(id: string): SessionError {
  return new SessionError('lease_lost', `session ${id} was already closed by this writer; nothing was stored`, { value: id });
}

interface Batch {
  readonly session: number;
  /** The sequence number before the first. */
  readonly after: number;
  readonly at: number;
  readonly surface: string;
  readonly records: readonly JournalRecord[];
}

function insertRecords(db: Database, { session, after, at, surface, records }: Batch): void {
  const { title } = keys(session);
  for (const [index, record] of records.entries()) {
    const key = title + after + index + 1;
    db.run(INSERT_RECORD, key, at, record.kind, toJson(record));
    if (record.kind === 'usage') recordUsage(db, { id: key, at, surface }, record);
    const text = searchable(record);
    if (text !== undefined) db.run(INSERT_SEARCH, key, toText(text));
  }
}

function append({ db, clock, surface, audit }: WriterParts, id: string, lease: Lease, records: readonly JournalRecord[]): number {
  const now = clock.now();
  const { turns, messages, input, output } = count(records);
  const { last, stored } = db.transaction(() => {
    const values = [records.length, turns, messages, input, output, now, now, ...leaseValues(lease)];
    const row = db.get<{ last_seq: number }>(ADVANCE, ...values);
    if (row === undefined) throw lost(id);
    if (row.last_seq >= RECORDS_PER_SESSION) {
      const limit = RECORDS_PER_SESSION - 1;
      throw new SessionError('store_error', `session ${id} is full: ${limit} journal records`, { value: row.last_seq, limit });
    }
    insertRecords(db, { session: lease.session, after: row.last_seq - records.length, at: now, surface, records });
    return { last: row.last_seq, stored: audit.takeInto(id, lease.session) };
  });
  stored();
  return last;
}

function update({ db, clock, audit }: WriterParts, id: string, lease: Lease, patch: SessionPatch): void {
  const now = clock.now();
  const columns = patchColumns(patch);
  const sets = columns.map(([name]) => `${name} = ?, `).join('');
  const sql = `UPDATE sessions SET ${sets}updated_at = ? WHERE ${HELD}`;
  const stored = db.transaction(() => {
    if (db.run(sql, ...columns.map(([, value]) => value), now, ...leaseValues(lease)) !== 1) throw lost(id);
    if (patch.title !== undefined) setTitle(db, lease.session, toText(patch.title));
    return audit.takeInto(id, lease.session);
  });
  stored();
}

function discard(db: Database, id: string, lease: Lease): void {
  db.transaction(() => {
    if (db.get(SELECT_HELD, ...leaseValues(lease)) === undefined) throw lost(id);
    erase(db, lease.session);
  });
}

/** Releases of the writers that are open, so that closing the store can give them up. */
export type OpenWriters = Set<() => void>;

/** What all writers of a process share. */
export interface WriterParts {
  readonly db: Database;
  readonly clock: Clock;
  /** Under which usage is entered. */
  readonly surface: string;
  readonly writers: OpenWriters;
  /** What waits for a session's next commit. */
  readonly audit: OpenAudit;
}

/** The writer that owns `lease`; it keeps the heartbeat going until it is closed. */
export function createWriter(parts: WriterParts, lease: Lease, loaded: LoadedSession): SessionWriter {
  const { db, clock, writers, audit } = parts;
  const { id } = loaded.header;
  const stopBeat = keepLease(db, lease, clock);
  let open = true;
  const end = (): void => {
    open = false;
    stopBeat();
    writers.delete(abandon);
  };
  const abandon = (): void => {
    end();
    if (db.isOpen) releaseLease(db, lease);
  };
  writers.add(abandon);
  return {
    ...loaded,
    async append(records) {
      if (!open) throw closed(id);
      if (records.length > 0) return append(parts, id, lease, records);
      const row = db.get<{ last_seq: number }>(SELECT_HELD, ...leaseValues(lease));
      if (row === undefined) throw lost(id);
      return row.last_seq;
    },
    async update(patch) {
      if (!open) throw closed(id);
      update(parts, id, lease, patch);
    },
    async close(options) {
      if (!open) return;
      if (options?.discard === true) {
        end();
        discard(db, id, lease);
      } else {
        abandon();
      }
      await audit.store.flush(id);
    },
  };
}
