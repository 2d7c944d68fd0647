import type { SessionHeader, StoredRecord } from '../../ports/session.ts';
import { eraseAudit } from './audit.ts';
import type { Database } from './database.ts';
import { HEADER_COLUMNS, type HeaderRow, type RecordRow, toHeader, toRecords } from './journal-rows.ts';
import { notFound } from './lease.ts';
import { RECORDS_PER_SESSION } from './migrations.ts';

const SELECT_RECORDS = 'SELECT seq, at, json FROM records WHERE id BETWEEN ? AND ? ORDER BY id';
/** Values are a key and its text. */
export const INSERT_SEARCH = 'INSERT INTO search (rowid, text) VALUES (?, ?)';

/** A session as it is stored. */
export interface LoadedSession {
  readonly header: SessionHeader;
  readonly records: readonly StoredRecord[];
}

/** First and last key of a session's journal; the key before the first is its title in the search index. */
export function keys(session: number): { title: number; first: number; last: number } {
  const title = session * RECORDS_PER_SESSION;
  return { title, first: title + 1, last: title + RECORDS_PER_SESSION - 1 };
}

/** Call it within a transaction, so that header and journal are of one instant. */
export function load(db: Database, id: string): LoadedSession {
  const row = db.get<HeaderRow>(`SELECT ${HEADER_COLUMNS} FROM sessions WHERE id = ?`, id);
  if (row === undefined) throw notFound(id);
  const { first, last } = keys(row.n);
  return { header: toHeader(row), records: toRecords(db.all<RecordRow>(SELECT_RECORDS, first, last), id) };
}

/** Removes the header, the journal, its audit and what the search index knows of them. */
export function erase(db: Database, session: number): void {
  const { title, first, last } = keys(session);
  db.run('DELETE FROM search WHERE rowid BETWEEN ? AND ?', title, last);
  db.run('DELETE FROM records WHERE id BETWEEN ? AND ?', first, last);
  eraseAudit(db, session);
  db.run('DELETE FROM sessions WHERE n = ?', session);
}

export function setTitle(db: Database, session: number, title: string): void {
  db.run('DELETE FROM search WHERE rowid = ?', keys(session).title);
  db.run(INSERT_SEARCH, keys(session).title, title);
}
