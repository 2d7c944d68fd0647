import type { ApprovalStore } from '../../ports/approval-store.ts';
import type { Ids } from '../../ports/ids.ts';
import type { SessionStore } from '../../ports/session.ts';
import type { UsageStore } from '../../ports/usage.ts';
import { openApprovals } from './approvals.ts';
import { type DatabaseOptions, openDatabase } from './database.ts';
import { ownIdentity } from './process-identity.ts';
import { checkDatabase, type StoreReport } from './report.ts';
import { openSessions } from './sessions.ts';
import { openUsage } from './usage.ts';

export { storeAdvice } from './report.ts';

export interface StoreOptions extends DatabaseOptions {
  /** Named as the holder of the sessions that this process writes: `run`, `serve`, … */
  readonly surface: string;
  readonly ids: Ids;
}

/** Everything odek keeps in `odek.db`. */
export interface Store {
  readonly sessions: SessionStore;
  /** What all runs used; filled by the journal. */
  readonly usage: UsageStore;
  /** Questions to a person, answered by this process or another. */
  readonly approvals: ApprovalStore;
  /** Reads the whole file and reports what is wrong with it. */
  check(): Promise<StoreReport>;
  /** Gives up the sessions still held, then the file. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the database at `path`, an absolute path, and makes it when it is not there.
 * `durability`: `process` survives a killed process, `power` a power cut too (one flush an append).
 *
 * @throws {SessionError} see {@link openDatabase}
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const db = await openDatabase(options);
  const self = ownIdentity();
  const owner = { ...self, surface: options.surface, nonce: () => options.ids.hex(8) };
  const { store, releaseAll } = openSessions(db, owner, options.clock);
  let open = true;
  return {
    sessions: store,
    usage: openUsage(db),
    approvals: openApprovals(db, self, options.clock),
    check: async () => checkDatabase(db),
    async close() {
      if (!open) return;
      open = false;
      try {
        releaseAll();
      } finally {
        db.close();
      }
    },
  };
}
