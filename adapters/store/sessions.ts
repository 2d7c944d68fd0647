import type { Clock } from '../../ports/clock.ts';
import { type NewSession, SessionError, type SessionHeader, type SessionQuery, type SessionStore } from '../../ports/session.ts';
import type { OpenAudit } from './audit.ts';
import type { Database } from './database.ts';
import { HEADER_COLUMNS, type HeaderRow, toHeader, toText } from './journal-rows.ts';
import { HOLDER_COLUMNS, type HolderRow, type Lease, type LeaseOwner, liveHolder, notFound, releaseLease, takeLease } from './lease.ts';
import { RECORDS_PER_SESSION } from './migrations.ts';
import { searchExpressions } from './search-query.ts';
import { erase, type LoadedSession, load, setTitle } from './session-rows.ts';
import { createWriter, type OpenWriters } from './session-writer.ts';

const MAX_ID_CHARS = 128;
/** The most sessions one query returns. */
const MAX_LIMIT = 100_000;

const INSERT_SESSION = `INSERT INTO sessions (id, created_at, updated_at, title, provider, model, workspace, listed, external_refs, fence,
  holder_pid, holder_start, holder_nonce, holder_surface, holder_since, holder_beat)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING RETURNING n`;

function checkId(id: string): void {
  if (/^(?!\.)[A-Za-z0-9_.-]+$/.test(id) && id.length <= MAX_ID_CHARS) return;
  const message = `${JSON.stringify(id.slice(0, MAX_ID_CHARS))} is not a session id: 1 to ${MAX_ID_CHARS} letters, digits, "_", "." or "-", not starting with a dot`;
  throw new SessionError('invalid_session_id', message, { value: id, limit: MAX_ID_CHARS });
}

function create(db: Database, owner: LeaseOwner, now: number, session: NewSession): { lease: Lease; loaded: LoadedSession } {
  const title = toText(session.title);
  const facts = [title, toText(session.provider), toText(session.model), toText(session.workspace)];
  const nonce = owner.nonce();
  const holder = [owner.pid, owner.start, nonce, owner.surface, now, now];
  return db.transaction(() => {
    const refs = JSON.stringify(session.externalRefs);
    const row = db.get<{ n: number }>(INSERT_SESSION, session.id, now, now, ...facts, Number(session.listed), refs, ...holder);
    if (row === undefined) throw new SessionError('session_exists', `session ${session.id} exists already`, { value: session.id });
    setTitle(db, row.n, title);
    return { lease: { session: row.n, fence: 1, nonce }, loaded: load(db, session.id) };
  });
}

function find(db: Database, query: SessionQuery): SessionHeader[] {
  const wheres: string[] = [];
  const values: (string | number)[] = [];
  if (query.unlisted !== true) wheres.push('listed = 1');
  if (query.updatedBefore !== undefined) {
    wheres.push('updated_at < ?');
    values.push(query.updatedBefore);
  }
  if (query.text !== undefined) {
    const expressions = searchExpressions(query.text);
    if (expressions.length === 0) return [];
    for (const expression of expressions) {
      wheres.push(`n IN (SELECT rowid / ${RECORDS_PER_SESSION} FROM search WHERE search MATCH ?)`);
      values.push(expression);
    }
  }
  const where = wheres.length === 0 ? '' : `WHERE ${wheres.join(' AND ')}`;
  const sql = `SELECT ${HEADER_COLUMNS} FROM sessions ${where} ORDER BY updated_at DESC, n DESC LIMIT ?`;
  const limit = Math.min(Math.max(0, Math.trunc(query.limit) || 0), MAX_LIMIT);
  return db.all<HeaderRow>(sql, ...values, limit).map(toHeader);
}

/** One transaction a session, so that removing many never keeps writers waiting for long. */
function remove(db: Database, ids: readonly string[], now: number): number {
  let removed = 0;
  for (const id of new Set(ids)) {
    removed += db.transaction(() => {
      const row = db.get<HolderRow>(`SELECT ${HOLDER_COLUMNS} FROM sessions WHERE id = ?`, id);
      if (row === undefined || liveHolder(row, now) !== undefined) return 0;
      erase(db, row.n);
      return 1;
    });
  }
  return removed;
}

/** Gives a session that nobody holds another id. All that belongs to it follows, since nothing else names it by its id. */
function rename(db: Database, from: string, to: string, now: number): void {
  db.transaction(() => {
    const row = db.get<HolderRow>(`SELECT ${HOLDER_COLUMNS} FROM sessions WHERE id = ?`, from);
    if (row === undefined) throw notFound(from);
    const holder = liveHolder(row, now);
    if (holder !== undefined)
      throw new SessionError('session_busy', `session ${from} is in use by ${holder.surface}`, { value: from, holder });
    if (db.get('SELECT 1 FROM sessions WHERE id = ?', to) !== undefined) {
      throw new SessionError('session_exists', `session ${to} exists already`, { value: to });
    }
    db.run('UPDATE sessions SET id = ? WHERE n = ?', to, row.n);
  });
}

/** A session store, and how to give up what its writers still hold. */
export interface OpenSessions {
  readonly store: SessionStore;
  /** Rejects with `session_not_found`, `session_busy`, `session_exists` or `invalid_session_id`. */
  rename(from: string, to: string): Promise<void>;
  releaseAll(): void;
}

/** The {@link SessionStore} over one database connection. */
export function openSessions(db: Database, owner: LeaseOwner, clock: Clock, audit: OpenAudit): OpenSessions {
  const writers: OpenWriters = new Set();
  const parts = { db, clock, surface: owner.surface, writers, audit };
  const store: SessionStore = {
    async create(session) {
      checkId(session.id);
      const { lease, loaded } = create(db, owner, clock.now(), session);
      return createWriter(parts, lease, loaded);
    },
    async open(id, { waitMs }, signal) {
      checkId(id);
      const lease = await takeLease(db, id, owner, clock, waitMs, signal);
      try {
        const loaded = db.snapshot(() => load(db, id));
        return createWriter(parts, lease, loaded);
      } catch (error) {
        releaseLease(db, lease);
        throw error;
      }
    },
    async read(id) {
      checkId(id);
      return db.snapshot(() => load(db, id));
    },
    find: async (query) => find(db, query),
    remove: async (ids) => remove(db, ids, clock.now()),
  };
  return {
    store,
    async rename(from, to) {
      checkId(to);
      rename(db, from, to, clock.now());
    },
    releaseAll() {
      for (const release of [...writers]) release();
    },
  };
}
