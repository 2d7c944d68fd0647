import type { ApprovalStore } from '../../ports/approval-store.ts';
import type { ArtifactLedger } from '../../ports/artifact.ts';
import type { AuditStore } from '../../ports/audit.ts';
import type { ChatInbox } from '../../ports/chat-inbox.ts';
import type { CommandReceipts } from '../../ports/command-receipt.ts';
import type { Ids } from '../../ports/ids.ts';
import type { DeliveryOutbox, FireLedger, SchedulerLeases, ScheduleStore } from '../../ports/schedule.ts';
import type { SessionStore } from '../../ports/session.ts';
import type { UsageStore } from '../../ports/usage.ts';
import { openApprovals } from './approvals.ts';
import { openArtifacts } from './artifacts.ts';
import { openAudit } from './audit.ts';
import { openChatInbox } from './chat-inbox.ts';
import { openCommandReceipts } from './command-receipts.ts';
import { type DatabaseOptions, openDatabase } from './database.ts';
import { ownIdentity } from './process-identity.ts';
import { checkDatabase, type StoreReport } from './report.ts';
import { openFires } from './schedule/fires.ts';
import { openJobs } from './schedule/jobs.ts';
import { openSchedulerLeases } from './schedule/leases.ts';
import { openOutbox } from './schedule/outbox.ts';
import { openSessions } from './sessions.ts';
import { openUsage } from './usage.ts';

export { storeAdvice } from './report.ts';

export interface StoreOptions extends DatabaseOptions {
  /** Named as the holder of the sessions that this process writes: `run`, `serve`, … */
  readonly surface: string;
  readonly ids: Ids;
}

/** The scheduler's part of the store. */
export interface Schedules {
  readonly jobs: ScheduleStore;
  readonly fires: FireLedger;
  readonly leases: SchedulerLeases;
  readonly outbox: DeliveryOutbox;
}

/** Everything odek keeps in `odek.db`. */
export interface Store {
  readonly sessions: SessionStore;
  /** What all runs used; filled by the journal. */
  readonly usage: UsageStore;
  /** What untrusted content each session took in; filled by the runs. */
  readonly audit: AuditStore;
  /** Questions to a person, answered by this process or another. */
  readonly approvals: ApprovalStore;
  /** Files that tools handed over by reference. */
  readonly artifacts: ArtifactLedger;
  /** Commands of plugins that clients had run. */
  readonly commandReceipts: CommandReceipts;
  readonly schedules: Schedules;
  /** What came in for a bot; `bot` names it among others. */
  inbox(bot: string): ChatInbox;
  /** Gives a session that nobody holds another id. Rejects with `session_not_found`, `session_busy`, `session_exists` or `invalid_session_id`. */
  renameSession(from: string, to: string): Promise<void>;
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
  const runner = { ...self, token: () => options.ids.hex(16) };
  const audit = openAudit(db);
  const { store, rename, releaseAll } = openSessions(db, owner, options.clock, audit);
  let open = true;
  return {
    sessions: store,
    usage: openUsage(db),
    audit: audit.store,
    approvals: openApprovals(db, self, options.clock),
    artifacts: openArtifacts(db, options.clock),
    commandReceipts: openCommandReceipts(db, self, options.clock),
    schedules: {
      jobs: openJobs(db),
      fires: openFires(db, runner, options.clock),
      leases: openSchedulerLeases(db, runner, options.clock),
      outbox: openOutbox(db, runner),
    },
    renameSession: rename,
    inbox: (bot) => openChatInbox(db, runner, bot),
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
