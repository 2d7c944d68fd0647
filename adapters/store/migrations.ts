/**
 * The schema, one entry a version; `PRAGMA user_version` holds how many were applied. An entry that
 * was released is never edited: a change is a new entry at the end.
 */

/**
 * A journal row's key is `session * RECORDS_PER_SESSION + seq`, so that one session lies together
 * in one b-tree, needs no second index, and shares its keys with the full-text index (where `seq` 0
 * is the title).
 */
export const RECORDS_PER_SESSION = 67_108_864;

/** "odek" in ASCII: tells our file from any other SQLite file of the same name. */
export const APPLICATION_ID = 0x6f64656b;

const SESSIONS = `
CREATE TABLE sessions (
  n INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  title TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  workspace TEXT NOT NULL,
  listed INTEGER NOT NULL,
  external_refs TEXT NOT NULL,
  last_run_id TEXT,
  last_run_state TEXT,
  last_seq INTEGER NOT NULL DEFAULT 0,
  turns INTEGER NOT NULL DEFAULT 0,
  messages INTEGER NOT NULL DEFAULT 0,
  input INTEGER NOT NULL DEFAULT 0,
  output INTEGER NOT NULL DEFAULT 0,
  fence INTEGER NOT NULL,
  holder_pid INTEGER,
  holder_start TEXT,
  holder_nonce TEXT,
  holder_surface TEXT,
  holder_since INTEGER,
  holder_beat INTEGER
);
CREATE TABLE records (
  id INTEGER PRIMARY KEY,
  session INTEGER AS (id / ${RECORDS_PER_SESSION}) VIRTUAL,
  seq INTEGER AS (id % ${RECORDS_PER_SESSION}) VIRTUAL,
  at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  json TEXT NOT NULL
);
CREATE VIRTUAL TABLE search USING fts5 (text, content = '', contentless_delete = 1, tokenize = 'unicode61');
`;

/**
 * The ledger of model calls. A row has the key of its journal record and outlives it. Calls of older
 * journals are taken over; a record that cannot be read is passed by, as everything else of it is.
 */
const USAGE = `
CREATE TABLE usage (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  surface TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  purpose TEXT NOT NULL,
  input INTEGER NOT NULL,
  output INTEGER NOT NULL,
  cache_read INTEGER,
  cache_write INTEGER,
  estimated INTEGER NOT NULL,
  cost_micro_usd INTEGER
);
INSERT INTO usage
  SELECT id, at, 'unknown', coalesce(json ->> '$.provider', 'unknown'), coalesce(json ->> '$.model', 'unknown'),
    coalesce(json ->> '$.purpose', 'main'), coalesce(json ->> '$.usage.input', 0), coalesce(json ->> '$.usage.output', 0),
    json ->> '$.usage.cache_read', json ->> '$.usage.cache_write', coalesce(json ->> '$.usage.estimated', 0), json ->> '$.costMicroUsd'
  FROM records WHERE kind = 'usage' AND json_valid(json);
`;

/** Questions that one process asks and another answers. A row without an answer is open until its time is over or its asker is gone. */
const APPROVALS = `
CREATE TABLE approvals (
  n INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  request TEXT NOT NULL,
  audience TEXT,
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  asker_pid INTEGER NOT NULL,
  asker_start TEXT NOT NULL,
  withdrawn INTEGER NOT NULL DEFAULT 0,
  decision TEXT,
  by_surface TEXT,
  by_user TEXT
);
`;

/**
 * The scheduler: jobs, one row for each due instant, the one lease, and results on their way out. Fires
 * outlive their job, deliveries outlive both.
 */
const SCHEDULES = `
CREATE TABLE schedule_jobs (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  json TEXT NOT NULL,
  revision INTEGER NOT NULL,
  cursor INTEGER NOT NULL
);
CREATE TABLE schedule_fires (
  job TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  manual INTEGER NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  session_id TEXT,
  run_id TEXT,
  started_at INTEGER,
  ended_at INTEGER,
  outcome TEXT,
  result TEXT,
  tokens INTEGER,
  owner_pid INTEGER,
  owner_start TEXT,
  token TEXT,
  deadline INTEGER,
  PRIMARY KEY (job, due_at, manual)
) WITHOUT ROWID;
CREATE INDEX schedule_fires_open ON schedule_fires (due_at) WHERE state IN ('claimed', 'queued', 'running');
CREATE TABLE schedule_lease (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  fence INTEGER NOT NULL,
  pid INTEGER,
  start TEXT,
  token TEXT,
  surface TEXT,
  since INTEGER,
  beat INTEGER
);
CREATE TABLE schedule_deliveries (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  job TEXT NOT NULL,
  job_name TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  session_id TEXT,
  target TEXT NOT NULL,
  text TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  maybe_repeat INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  created_at INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  settled_at INTEGER,
  owner_pid INTEGER,
  owner_start TEXT
);
CREATE INDEX schedule_deliveries_open ON schedule_deliveries (next_at) WHERE state IN ('pending', 'sending');
`;

/** What untrusted content each session took in, and what each of its turns did then. Goes with its session. */
const AUDIT = `
CREATE TABLE audit_ingests (
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  source TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  at INTEGER NOT NULL
);
CREATE INDEX audit_ingests_of ON audit_ingests (session, id);
CREATE TABLE audit_turns (
  session INTEGER NOT NULL,
  turn INTEGER NOT NULL,
  suspicious INTEGER NOT NULL,
  json TEXT NOT NULL,
  PRIMARY KEY (session, turn)
) WITHOUT ROWID;
`;

/** Files that tools handed over by reference, by the id under which the model may read them. Goes with its session. */
const ARTIFACTS = `
CREATE TABLE artifacts (
  session INTEGER NOT NULL,
  id TEXT NOT NULL,
  n INTEGER NOT NULL,
  at INTEGER NOT NULL,
  source TEXT NOT NULL,
  path TEXT NOT NULL,
  roots TEXT NOT NULL,
  media_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (session, id)
) WITHOUT ROWID;
CREATE TRIGGER artifacts_go_with_session AFTER DELETE ON sessions
BEGIN
  DELETE FROM artifacts WHERE session = old.n;
END;
`;

/** Updates of chat bots: recorded before they are handled, so that each is handled once. `json` is emptied with the end. */
const CHAT_INBOX = `
CREATE TABLE chat_updates (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  bot TEXT NOT NULL,
  update_id INTEGER NOT NULL,
  digest TEXT NOT NULL,
  json TEXT NOT NULL,
  state TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  owner_pid INTEGER,
  owner_start TEXT,
  token TEXT
);
CREATE INDEX chat_updates_known ON chat_updates (bot, update_id);
CREATE INDEX chat_updates_open ON chat_updates (bot, seq) WHERE state IN ('received', 'claimed', 'handling', 'interrupted');
CREATE TABLE chat_marks (
  bot TEXT PRIMARY KEY,
  highest INTEGER NOT NULL,
  at INTEGER NOT NULL
) WITHOUT ROWID;
`;

/** Commands of plugins that clients had run, by the key that the client chose. A row that runs belongs to its process. */
const COMMAND_RECEIPTS = `
CREATE TABLE command_receipts (
  n INTEGER PRIMARY KEY,
  thread TEXT NOT NULL,
  operation_key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  name TEXT NOT NULL,
  origin TEXT NOT NULL,
  state TEXT NOT NULL,
  text TEXT NOT NULL,
  turn TEXT,
  created_at INTEGER NOT NULL,
  settled_at INTEGER,
  owner_pid INTEGER NOT NULL,
  owner_start TEXT NOT NULL,
  UNIQUE (thread, operation_key)
);
`;

export const MIGRATIONS: readonly string[] = [SESSIONS, USAGE, APPROVALS, SCHEDULES, AUDIT, ARTIFACTS, CHAT_INBOX, COMMAND_RECEIPTS];
