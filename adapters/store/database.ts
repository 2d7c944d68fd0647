import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Clock } from '../../ports/clock.ts';
import { SessionError } from '../../ports/session.ts';
import { APPLICATION_ID, MIGRATIONS } from './migrations.ts';
import { isBusy, toSessionError } from './sqlite-errors.ts';

/** How long one statement waits for another process's write, in milliseconds. Writes take a few. */
const BUSY_MS = 2_000;
/** Opening competes with others that create or migrate the file; this many tries, 20 ms apart at first. */
const OPEN_TRIES = 10;
const WAL_KEEP_BYTES = 16_777_216;

export interface DatabaseOptions {
  readonly path: string;
  readonly durability: 'process' | 'power';
  readonly clock: Clock;
  /** Pages the file may grow to; a full disk for tests. */
  readonly maxPages?: number;
  /** Milliseconds a statement waits for another writer. */
  readonly busyMs?: number;
}

/**
 * One connection to `odek.db`. Statements are compiled at first use and kept. Every method throws
 * only odek errors; SQLite's own are mapped to session error codes.
 */
export interface Database {
  readonly path: string;
  /** False after `close`. */
  readonly isOpen: boolean;
  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[];
  /** Returns the number of rows changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
  /** A write transaction: all of `work` or nothing. `work` is synchronous and does not nest. */
  transaction<T>(work: () => T): T;
  /** A read transaction: everything `work` reads is of one instant. */
  snapshot<T>(work: () => T): T;
  /** Idempotent. */
  close(): void;
}

/** Loads `node:sqlite` at first use, without the warning that Node 22 prints for it; other warnings pass. */
function loadSqlite(): typeof import('node:sqlite') {
  const emit = process.emitWarning;
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    if (String(warning).includes('SQLite is an experimental feature')) return;
    emit.call(process, warning, ...rest);
  }) as typeof process.emitWarning;
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emit;
  }
}

/** Step by step: `recursive` never returns below a folder that denies having what was just made, such as `/proc`. */
function makeFolders(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  const parent = dirname(folder);
  if (parent !== folder) makeFolders(parent);
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have been faster.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(folder).isDirectory()) throw error;
  }
}

function prepareFolder(folder: string): void {
  try {
    makeFolders(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST' && code !== 'ENOTDIR') throw error;
    throw new SessionError('store_error', `${folder} cannot be the state folder: there is a file in its place`, {
      value: folder,
      cause: error,
    });
  }
}

/** SQLite gives the write-ahead log and its index the mode of the database file, so only that one is set. */
function prepareFile(path: string): void {
  prepareFolder(dirname(path));
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const found = statSync(path);
    if (!found.isFile()) throw new SessionError('store_error', `${path} is not a regular file`, { value: path });
    if ((found.mode & 0o077) !== 0) chmodSync(path, 0o600);
  }
}

function pragma(db: DatabaseSync, name: string): unknown {
  const row = db.prepare(`PRAGMA ${name}`).get();
  return row === undefined ? undefined : Object.values(row)[0];
}

function checkIdentity(db: DatabaseSync, path: string): number {
  const version = Number(pragma(db, 'user_version'));
  const owner = Number(pragma(db, 'application_id'));
  const foreign = owner !== APPLICATION_ID && (owner !== 0 || version !== 0 || Number(pragma(db, 'schema_version')) !== 0);
  if (foreign) throw new SessionError('store_error', `${path} is a database, but not one of odek's; it was left as it is`, { value: path });
  if (version > MIGRATIONS.length) {
    const message = `${path} was written by a newer odek (schema ${version}, this one knows ${MIGRATIONS.length}); update odek to use it`;
    throw new SessionError('database_newer', message, { value: version, limit: MIGRATIONS.length });
  }
  return version;
}

/** All outstanding migrations in one transaction; the version is read again inside it, as another process may have been faster. */
function migrate(db: DatabaseSync, path: string): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    const from = checkIdentity(db, path);
    for (const step of MIGRATIONS.slice(from)) db.exec(step);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${MIGRATIONS.length}; COMMIT`);
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

function connect(options: DatabaseOptions, busyMs: number): DatabaseSync {
  const { DatabaseSync: Connection } = loadSqlite();
  const db = new Connection(options.path, { timeout: busyMs });
  try {
    const version = checkIdentity(db, options.path);
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = ${WAL_KEEP_BYTES};
      PRAGMA synchronous = ${options.durability === 'power' ? 'FULL' : 'NORMAL'}`);
    if (version < MIGRATIONS.length) migrate(db, options.path);
    if (options.maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${options.maxPages}`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

async function connectWithRetry(options: DatabaseOptions, busyMs: number): Promise<DatabaseSync> {
  for (let attempt = 1; ; attempt++) {
    try {
      return connect(options, busyMs);
    } catch (error) {
      if (!isBusy(error) || attempt >= OPEN_TRIES) throw error;
      await options.clock.sleep(20 * attempt);
    }
  }
}

function wrap(db: DatabaseSync, path: string, busyMs: number): Database {
  const statements = new Map<string, StatementSync>();
  const guard = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw toSessionError(error, path, busyMs);
    }
  };
  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const made = db.prepare(sql);
    statements.set(sql, made);
    return made;
  };
  const enclosed = <T>(begin: string, work: () => T): T =>
    guard(() => {
      prepared(begin).run();
      try {
        const result = work();
        prepared('COMMIT').run();
        return result;
      } catch (error) {
        // SQLite may have rolled back by itself, for example on a full disk.
        if (db.isTransaction) db.exec('ROLLBACK');
        throw error;
      }
    });
  return {
    path,
    get isOpen() {
      return db.isOpen;
    },
    get: <Row>(sql: string, ...values: SQLInputValue[]) => guard(() => prepared(sql).get(...values) as Row | undefined),
    all: <Row>(sql: string, ...values: SQLInputValue[]) => guard(() => prepared(sql).all(...values) as Row[]),
    run: (sql, ...values) => guard(() => Number(prepared(sql).run(...values).changes)),
    transaction: (work) => enclosed('BEGIN IMMEDIATE', work),
    snapshot: (work) => enclosed('BEGIN', work),
    close: () => {
      if (db.isOpen) guard(() => db.close());
    },
  };
}

/**
 * Opens `options.path`, makes it (0600, in a folder that is made 0700) when it is not there, and
 * brings its schema up to date.
 *
 * @throws {SessionError} `database_newer`, `database_corrupt`, `disk_full`, `read_only_filesystem`,
 *   `permission_denied` or `store_error`; what was in the file is left as it was.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const busyMs = options.busyMs ?? BUSY_MS;
  try {
    prepareFile(options.path);
    return wrap(await connectWithRetry(options, busyMs), options.path, busyMs);
  } catch (error) {
    throw toSessionError(error, options.path, busyMs);
  }
}
