import { accessSync, constants, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isOdekError, type OdekError } from '../../ports/errors.ts';
import { SessionError, type SessionErrorCode } from '../../ports/session.ts';

/** Primary result codes of SQLite that mean something to a user. */
const SQLITE = { perm: 3, busy: 5, locked: 6, readonly: 8, ioerr: 10, corrupt: 11, full: 13, cantopen: 14, notadb: 26 } as const;
const READONLY_DBMOVED = 1032;

const SYSTEM_CODES: Readonly<Record<string, SessionErrorCode>> = {
  ENOSPC: 'disk_full',
  EDQUOT: 'disk_full',
  EROFS: 'read_only_filesystem',
  EACCES: 'permission_denied',
  EPERM: 'permission_denied',
};

const MESSAGES: Readonly<Partial<Record<SessionErrorCode, string>>> = {
  disk_full: 'the disk is full; nothing of this step was stored and what was stored before is intact',
  read_only_filesystem: 'the file system is read-only; nothing was changed',
  permission_denied: 'this user may not write there; nothing was changed',
  database_corrupt: 'the database is damaged; it was left exactly as it is',
};

function numberOf(error: unknown, key: 'errcode'): number | undefined {
  const value = typeof error === 'object' && error !== null ? (error as Record<string, unknown>)[key] : undefined;
  return typeof value === 'number' ? value : undefined;
}

function systemCode(error: unknown): SessionErrorCode | undefined {
  const code = typeof error === 'object' && error !== null ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? SYSTEM_CODES[code] : undefined;
}

/** SQLite says "cannot open" or "I/O error" for many causes; trying to write beside the file tells which. */
function probe(path: string): SessionErrorCode | undefined {
  const trial = join(dirname(path), `.odek-probe-${process.pid}`);
  try {
    writeFileSync(trial, Buffer.alloc(16_384), { flag: 'wx', mode: 0o600, flush: true });
    accessSync(path, constants.R_OK | constants.W_OK);
    return undefined;
  } catch (error) {
    return systemCode(error);
  } finally {
    try {
      rmSync(trial, { force: true });
    } catch {
      // The folder refuses changes: then nothing was written either.
    }
  }
}

function codeOf(error: unknown, path: string): SessionErrorCode {
  const extended = numberOf(error, 'errcode');
  if (extended === undefined) return systemCode(error) ?? 'store_error';
  const primary = extended & 0xff;
  if (primary === SQLITE.full) return 'disk_full';
  if (primary === SQLITE.corrupt || primary === SQLITE.notadb) return 'database_corrupt';
  if (extended === READONLY_DBMOVED) return 'store_error';
  if (primary === SQLITE.perm) return 'permission_denied';
  if (primary === SQLITE.readonly) return probe(path) ?? 'permission_denied';
  if (primary === SQLITE.cantopen || primary === SQLITE.ioerr) return probe(path) ?? 'store_error';
  return 'store_error';
}

function storeErrorText(error: unknown, busyMs: number): string {
  const extended = numberOf(error, 'errcode') ?? 0;
  const primary = extended & 0xff;
  if (primary === SQLITE.busy || primary === SQLITE.locked) return `another process has been writing for more than ${busyMs} ms`;
  if (extended === READONLY_DBMOVED) return 'the file was removed or replaced while it was open';
  return error instanceof Error ? error.message : String(error);
}

/** True when another connection was in the way, so that trying again later may work. */
export function isBusy(error: unknown): boolean {
  const primary = (numberOf(error, 'errcode') ?? 0) & 0xff;
  return primary === SQLITE.busy || primary === SQLITE.locked;
}

/** Turns whatever SQLite or the file system threw into a {@link SessionError}; odek errors pass unchanged. */
export function toSessionError(error: unknown, path: string, busyMs: number): OdekError {
  if (isOdekError(error)) return error;
  const code = codeOf(error, path);
  const text = MESSAGES[code] ?? storeErrorText(error, busyMs);
  return new SessionError(code, `${path}: ${text} ("odek doctor" says what to do)`, { value: path, cause: error });
}
