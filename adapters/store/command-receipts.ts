import type { Clock } from '../../ports/clock.ts';
import type { CommandOutcome, CommandReceipt, CommandReceipts, CommandState } from '../../ports/command-receipt.ts';
import type { Database } from './database.ts';
import { isGone, type ProcessIdentity } from './process-identity.ts';

/** Receipts of one thread that are kept beside those that run. */
const KEPT = 1000;
const RECENT = 100;

interface Row {
  readonly thread: string;
  readonly operation_key: string;
  readonly request_hash: string;
  readonly name: string;
  readonly origin: string;
  readonly state: string;
  readonly text: string;
  readonly turn: string | null;
  readonly created_at: number;
  readonly settled_at: number | null;
  readonly owner_pid: number;
  readonly owner_start: string;
}

const FIND = 'SELECT * FROM command_receipts WHERE thread = ? AND operation_key = ?';
const BEGIN = `INSERT INTO command_receipts (thread, operation_key, request_hash, name, origin, state, text, created_at, owner_pid, owner_start)
  VALUES (?, ?, ?, ?, ?, 'running', '', ?, ?, ?) ON CONFLICT DO NOTHING`;
const SETTLE = `UPDATE command_receipts SET state = ?, text = ?, turn = ?, settled_at = ?
  WHERE thread = ? AND operation_key = ? AND state = 'running'`;
const FORGET = `DELETE FROM command_receipts WHERE thread = ? AND state <> 'running' AND n <=
  (SELECT coalesce(max(n), 0) FROM command_receipts WHERE thread = ?) - ?`;
const RECENT_ROWS = `SELECT * FROM command_receipts WHERE thread = ? AND state <> 'running' AND turn IS NULL ORDER BY n DESC LIMIT ?`;

function toReceipt(row: Row): CommandReceipt {
  return {
    thread: row.thread,
    operationKey: row.operation_key,
    requestHash: row.request_hash,
    name: row.name,
    origin: row.origin,
    state: row.state as CommandState,
    text: row.text,
    createdAt: row.created_at,
    ...(row.turn !== null && { turn: row.turn }),
    ...(row.settled_at !== null && { settledAt: row.settled_at }),
  };
}

/** The {@link CommandReceipts} over one database connection. `worker` is this process, which runs commands and may die. */
export function openCommandReceipts(db: Database, worker: ProcessIdentity, clock: Clock): CommandReceipts {
  const isLost = ({ state, owner_pid: pid, owner_start: start }: Row): boolean =>
    state === 'running' && !(pid === worker.pid && start === worker.start) && isGone({ pid, start });
  return {
    begin: async ({ thread, operationKey, requestHash, name, origin }) =>
      db.transaction(() => {
        const claimed = db.run(BEGIN, thread, operationKey, requestHash, name, origin, clock.now(), worker.pid, worker.start) === 1;
        if (claimed) db.run(FORGET, thread, thread, KEPT);
        const row = claimed ? undefined : db.get<Row>(FIND, thread, operationKey);
        return row === undefined ? 'claimed' : toReceipt(row);
      }),
    settle: async (thread, operationKey, { state, text, turn }: CommandOutcome) =>
      db.run(SETTLE, state, text, turn ?? null, clock.now(), thread, operationKey) === 1,
    async find(thread, operationKey) {
      const row = db.get<Row>(FIND, thread, operationKey);
      return row && { ...toReceipt(row), lost: isLost(row) };
    },
    recent: async (thread) => db.all<Row>(RECENT_ROWS, thread, RECENT).map(toReceipt),
  };
}
