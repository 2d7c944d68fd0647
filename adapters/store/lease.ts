import type { Clock } from '../../ports/clock.ts';
import { CancelledError } from '../../ports/errors.ts';
import { SessionError, type SessionHolder } from '../../ports/session.ts';
import type { Database } from './database.ts';
import { isGone, type ProcessIdentity } from './process-identity.ts';

/** A holder writes its heartbeat this often, in milliseconds. */
const BEAT_MS = 15_000;
/** A holder without a heartbeat for so long is taken over, even when its process exists: it is suspended. */
const EXPIRY_MS = 60_000;
const FIRST_POLL_MS = 10;
const MAX_POLL_MS = 200;
const MAX_ROUNDS = 16;

/** Proof of the exclusive right to write a session. `fence` grows with every lease of that session. */
export interface Lease {
  /** The session's row. */
  readonly session: number;
  readonly fence: number;
  /** Random: a fence alone would be valid again after the file was restored from an older copy. */
  readonly nonce: string;
}

/** Who asks for leases. */
export interface LeaseOwner extends ProcessIdentity {
  readonly surface: string;
  nonce(): string;
}

/** The columns of a session that say who holds it. */
export interface HolderRow {
  readonly n: number;
  readonly fence: number;
  readonly holder_pid: number | null;
  readonly holder_start: string | null;
  readonly holder_surface: string | null;
  readonly holder_since: number | null;
  readonly holder_beat: number | null;
}

export const HOLDER_COLUMNS = 'n, fence, holder_pid, holder_start, holder_surface, holder_since, holder_beat';

const TAKE = `UPDATE sessions SET fence = fence + 1, holder_pid = ?, holder_start = ?, holder_nonce = ?, holder_surface = ?,
  holder_since = ?, holder_beat = ? WHERE n = ? AND fence = ? AND holder_pid IS ? AND holder_beat IS ?`;

/** Clears the holder and keeps the fence, so that an old holder's token never becomes valid again. */
const RELEASE = `UPDATE sessions SET holder_pid = NULL, holder_start = NULL, holder_nonce = NULL, holder_surface = NULL,
  holder_since = NULL, holder_beat = NULL`;

/** Who holds the session of this row now; undefined when nobody does, or nobody who still lives. */
export function liveHolder(row: HolderRow, now: number): SessionHolder | undefined {
  if (row.holder_pid === null) return undefined;
  if (now - (row.holder_beat ?? 0) > EXPIRY_MS) return undefined;
  if (isGone({ pid: row.holder_pid, start: row.holder_start ?? '' })) return undefined;
  return { pid: row.holder_pid, surface: row.holder_surface ?? '', since: row.holder_since ?? 0 };
}

export function notFound(id: string): SessionError {
  return new SessionError('session_not_found', `there is no session ${id} ("odek session list" shows those there are)`, { value: id });
}

function busy(id: string, holder: SessionHolder, waitMs: number): SessionError {
  const since = new Date(holder.since).toISOString();
  const waited = waitMs > 0 ? ` after waiting ${waitMs} ms` : '';
  const message = `session ${id} is in use by process ${holder.pid} (odek ${holder.surface}, since ${since})${waited}`;
  return new SessionError('session_busy', message, { value: id, limit: waitMs, holder });
}

/** One attempt. Returns the lease, or the live holder that is in the way. */
function tryTake(db: Database, id: string, owner: LeaseOwner, now: number): Lease | SessionHolder {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const row = db.get<HolderRow>(`SELECT ${HOLDER_COLUMNS} FROM sessions WHERE id = ?`, id);
    if (row === undefined) throw notFound(id);
    const holder = liveHolder(row, now);
    if (holder !== undefined) return holder;
    const nonce = owner.nonce();
    const values = [owner.pid, owner.start, nonce, owner.surface, now, now];
    // Nothing changes when another process took it since the read: then look again.
    const taken = db.run(TAKE, ...values, row.n, row.fence, row.holder_pid, row.holder_beat);
    if (taken === 1) return { session: row.n, fence: row.fence + 1, nonce };
  }
  throw new SessionError('store_error', `session ${id} changed hands ${MAX_ROUNDS} times while it was being opened`, {
    value: id,
    limit: MAX_ROUNDS,
  });
}

/**
 * Takes the session, waiting up to `waitMs` for a live holder to give it up.
 *
 * @throws {SessionError} `session_not_found`, `session_busy`
 * @throws {CancelledError} when `signal` fires
 */
export async function takeLease(
  db: Database,
  id: string,
  owner: LeaseOwner,
  clock: Clock,
  waitMs: number,
  signal: AbortSignal,
): Promise<Lease> {
  const deadline = clock.monotonic() + waitMs;
  for (let poll = FIRST_POLL_MS; ; poll = Math.min(poll * 2, MAX_POLL_MS)) {
    if (signal.aborted) throw new CancelledError(`opening session ${id} was cancelled`);
    const taken = tryTake(db, id, owner, clock.now());
    if ('fence' in taken) return taken;
    const left = deadline - clock.monotonic();
    if (!(left > 0)) throw busy(id, taken, waitMs);
    await clock.sleep(Math.min(poll, left), signal);
  }
}

/** The condition that a lease is the newest of its session and was not given up; its values are {@link leaseValues}. */
export const HELD = 'n = ? AND fence = ? AND holder_nonce = ?';

export function leaseValues(lease: Lease): [session: number, fence: number, nonce: string] {
  return [lease.session, lease.fence, lease.nonce];
}

/** Renews the heartbeat; false when the lease was lost. */
function renewLease(db: Database, lease: Lease, now: number): boolean {
  return db.run(`UPDATE sessions SET holder_beat = ? WHERE ${HELD}`, now, ...leaseValues(lease)) === 1;
}

export function releaseLease(db: Database, lease: Lease): void {
  db.run(`${RELEASE} WHERE ${HELD}`, ...leaseValues(lease));
}

/** Renews the lease in the background until the returned function is called or the lease is lost. */
export function keepLease(db: Database, lease: Lease, clock: Clock): () => void {
  let stop = (): void => {};
  const beat = (): void => {
    try {
      if (!db.isOpen || !renewLease(db, lease, clock.now())) return;
    } catch {
      // A full or busy disk must not end the process from a timer; the next append tells.
    }
    stop = clock.after(BEAT_MS, beat);
  };
  stop = clock.after(BEAT_MS, beat);
  return () => stop();
}
