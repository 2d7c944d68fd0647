import { statSync } from 'node:fs';
import type { SessionErrorCode } from '../../ports/session.ts';
import type { Database } from './database.ts';

/** What a look at the database found. */
export interface StoreReport {
  readonly path: string;
  /** Bytes of the database file, without the write-ahead log. */
  readonly bytes: number;
  readonly sessions: number;
  /** Empty when all is well; at most 10 of SQLite's own findings. */
  readonly problems: readonly string[];
}

const ADVICE: Readonly<Record<SessionErrorCode, string>> = {
  session_not_found: 'run "odek session list" to see the sessions there are',
  session_exists: 'leave the id out, or continue the session that has it',
  session_busy: 'wait for the process that holds it, or end that process',
  lease_lost: 'the session was continued elsewhere; continue it from there',
  invalid_session_id: 'copy the id from "odek session list"',
  disk_full: 'free some space on the disk that holds the file, then continue the session; nothing has to be repaired',
  read_only_filesystem: 'make the file system writable, or set ODEK_HOME to a folder on one that is',
  permission_denied: 'make the folder and the file belong to this user, or set ODEK_HOME to a folder of your own',
  database_corrupt:
    'copy the file and its "-wal" beside it before anything else; then move the three files away so that odek starts a new one, and try "sqlite3 <copy> .recover" to get the sessions back',
  database_newer: 'update odek; an older one never touches the file',
  store_error: 'see the message; if another odek is stuck, end it and try again',
};

/** One sentence that says what a person can do about a failed store. */
export function storeAdvice(code: SessionErrorCode): string {
  return ADVICE[code];
}

const MAX_PROBLEMS = 10;

/** Reads every page. @throws {SessionError} when the file cannot even be read. */
export function checkDatabase(db: Database): StoreReport {
  const rows = db.all<{ quick_check: string }>(`PRAGMA quick_check(${MAX_PROBLEMS})`);
  const problems = rows.map((row) => row.quick_check).filter((text) => text !== 'ok');
  const sessions = db.get<{ count: number }>('SELECT count(*) AS count FROM sessions')?.count ?? 0;
  return { path: db.path, bytes: statSync(db.path).size, sessions, problems };
}
