import type { Clock } from '../../../ports/clock.ts';
import { ScheduleError, type SchedulerHolder, type SchedulerLease, type SchedulerLeases } from '../../../ports/schedule.ts';
import type { Database } from '../database.ts';
import { isGone, type ProcessIdentity } from '../process-identity.ts';

/** Who asks for the lease; `token` gives a new random one. */
export interface SchedulerOwner extends ProcessIdentity {
  token(): string;
}

interface LeaseRow {
  readonly fence: number;
  readonly pid: number | null;
  readonly start: string | null;
  readonly token: string | null;
  readonly surface: string | null;
  readonly since: number | null;
  readonly beat: number | null;
}

/** A holder without a beat for so long is taken over although its process exists: it is suspended. */
const EXPIRY_MS = 60_000;

const SELECT = 'SELECT fence, pid, start, token, surface, since, beat FROM schedule_lease WHERE id = 1';
const TAKE = `INSERT INTO schedule_lease (id, fence, pid, start, token, surface, since, beat) VALUES (1, 1, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET fence = fence + 1, pid = excluded.pid, start = excluded.start, token = excluded.token,
  surface = excluded.surface, since = excluded.since, beat = excluded.beat`;

function liveHolder(row: LeaseRow | undefined, now: number): SchedulerHolder | undefined {
  if (row === undefined || row.pid === null || now - (row.beat ?? 0) > EXPIRY_MS) return undefined;
  if (isGone({ pid: row.pid, start: row.start ?? '' })) return undefined;
  return { pid: row.pid, surface: row.surface ?? '', since: row.since ?? 0, beatAt: row.beat ?? 0 };
}

/** To be called in the transaction that depends on it. @throws {ScheduleError} `lease_lost` */
export function mustHold(db: Database, lease: SchedulerLease): void {
  const row = db.get<LeaseRow>(SELECT);
  if (row?.fence === lease.fence && row.token === lease.token) return;
  const holder = row?.pid == null ? 'nobody' : `process ${row.pid} (odek ${row.surface})`;
  throw new ScheduleError('lease_lost', `this process is no longer the scheduler: ${holder} is`, { value: lease.fence });
}

/** The {@link SchedulerLeases} over one database connection. */
export function openSchedulerLeases(db: Database, owner: SchedulerOwner, clock: Clock): SchedulerLeases {
  return {
    async acquire(surface) {
      return db.transaction(() => {
        const now = clock.now();
        const before = db.get<LeaseRow>(SELECT);
        const holder = liveHolder(before, now);
        if (holder !== undefined) return holder;
        const token = owner.token();
        db.run(TAKE, owner.pid, owner.start, token, surface, now, now);
        const fence = db.get<LeaseRow>(SELECT)?.fence ?? 0;
        return { fence, token, ...(before?.beat != null && { seenBefore: before.beat }) };
      });
    },
    async beat(lease) {
      db.transaction(() => {
        mustHold(db, lease);
        db.run('UPDATE schedule_lease SET beat = ? WHERE id = 1', clock.now());
      });
    },
    async release(lease) {
      db.run('UPDATE schedule_lease SET pid = NULL, token = NULL WHERE id = 1 AND fence = ? AND token = ?', lease.fence, lease.token);
    },
    holder: async () => liveHolder(db.get<LeaseRow>(SELECT), clock.now()),
  };
}
