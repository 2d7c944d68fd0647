import type { AuditEntry, AuditIngest, AuditStore, AuditSummary, AuditTurn, SessionAudit } from '../../ports/audit.ts';
import type { Database } from './database.ts';
import { toText } from './journal-rows.ts';
import { notFound } from './lease.ts';

/** Entries that wait for a commit; beyond, they are stored by themselves. */
const MAX_WAITING = 1024;
const MAX_LISTED = 10_000;

const INSERT_INGEST = 'INSERT INTO audit_ingests (session, turn, source, content_hash, at) VALUES (?, ?, ?, ?, ?)';
const UPSERT_TURN = `INSERT INTO audit_turns (session, turn, suspicious, json) VALUES (?, ?, ?, ?)
  ON CONFLICT (session, turn) DO UPDATE SET suspicious = excluded.suspicious, json = excluded.json`;
const SELECT_SESSION = 'SELECT n FROM sessions WHERE id = ?';
const LIST = `SELECT s.id AS session_id,
    (SELECT count(*) FROM audit_ingests i WHERE i.session = s.n) AS ingests,
    (SELECT count(*) FROM audit_turns t WHERE t.session = s.n) AS turns,
    (SELECT count(*) FROM audit_turns t WHERE t.session = s.n AND t.suspicious = 1) AS suspicious,
    (SELECT source FROM audit_ingests i WHERE i.session = s.n ORDER BY i.id LIMIT 1) AS first_source
  FROM sessions s
  WHERE EXISTS (SELECT 1 FROM audit_ingests i WHERE i.session = s.n) OR EXISTS (SELECT 1 FROM audit_turns t WHERE t.session = s.n)
  ORDER BY s.updated_at DESC, s.n DESC LIMIT ?`;

/** The audit, and the door through which a session's writer takes what waits into its own commit. */
export interface OpenAudit {
  readonly store: AuditStore;
  /**
   * Within a transaction: stores what waits for the session. What it returns is to be called once that
   * transaction is committed; without that call the entries wait on.
   */
  takeInto(sessionId: string, session: number): () => void;
}

function insert(db: Database, session: number, entry: AuditEntry): void {
  if (entry.kind === 'ingest') {
    const { turn, source, content_hash, at } = entry.ingest;
    db.run(INSERT_INGEST, session, turn, toText(source), content_hash, at);
  } else {
    db.run(UPSERT_TURN, session, entry.turn.turn, Number(entry.turn.suspicious_divergence), JSON.stringify(entry.turn));
  }
}

function read(db: Database, id: string): SessionAudit {
  const row = db.get<{ n: number }>(SELECT_SESSION, id);
  if (row === undefined) throw notFound(id);
  const ingests = db.all<AuditIngest>('SELECT turn, source, content_hash, at FROM audit_ingests WHERE session = ? ORDER BY id', row.n);
  const turns = db.all<{ json: string }>('SELECT json FROM audit_turns WHERE session = ? ORDER BY turn', row.n);
  return {
    session_id: id,
    ingests: ingests.map((ingest) => ({ ...ingest })),
    turns: turns.map(({ json }) => JSON.parse(json) as AuditTurn),
  };
}

type SummaryRow = Omit<AuditSummary, 'first_source'> & { readonly first_source: string | null };

function list(db: Database, limit: number): AuditSummary[] {
  const bound = Math.min(Math.max(0, Math.trunc(limit) || 0), MAX_LISTED);
  return db.all<SummaryRow>(LIST, bound).map(({ first_source, ...row }) => ({ ...row, ...(first_source !== null && { first_source }) }));
}

/** Removes the audit of a session; within the transaction that removes the session. */
export function eraseAudit(db: Database, session: number): void {
  db.run('DELETE FROM audit_ingests WHERE session = ?', session);
  db.run('DELETE FROM audit_turns WHERE session = ?', session);
}

/** The {@link AuditStore} over one database connection. */
export function openAudit(db: Database): OpenAudit {
  const waiting = new Map<string, AuditEntry[]>();

  const takeInto = (id: string, session: number): (() => void) => {
    const entries = waiting.get(id);
    if (entries === undefined) return () => {};
    const taken = entries.length;
    for (const entry of entries) insert(db, session, entry);
    return () => {
      if (entries.length === taken) waiting.delete(id);
      else entries.splice(0, taken);
    };
  };

  const flush = (id: string): void => {
    if (!waiting.has(id)) return;
    const stored = db.transaction(() => {
      const row = db.get<{ n: number }>(SELECT_SESSION, id);
      return row === undefined ? () => void waiting.delete(id) : takeInto(id, row.n);
    });
    stored();
  };

  return {
    takeInto,
    store: {
      note(id, entry) {
        const entries = waiting.get(id) ?? [];
        waiting.set(id, entries);
        entries.push(entry);
        if (entries.length < MAX_WAITING) return;
        try {
          flush(id);
        } catch {
          // The next append meets the same trouble and tells of it; until then no more than this is kept.
          if (entries.length > MAX_WAITING * 2) entries.shift();
        }
      },
      flush: async (id) => flush(id),
      read: async (id) => db.snapshot(() => read(db, id)),
      list: async (limit) => list(db, limit),
    },
  };
}
