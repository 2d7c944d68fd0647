import { createHash } from 'node:crypto';
import type { ChatUpdate } from '../../ports/chat.ts';
import { type ChatInbox, INBOX_LIMITS, type InboxClaim, InboxError, type InboxRecord, type InboxRules } from '../../ports/chat-inbox.ts';
import type { Database } from './database.ts';
import { isGone, type ProcessIdentity } from './process-identity.ts';

/** The service counts anew after a week without updates, and keeps none for longer than a day. */
const QUIET_MS = 6 * 86_400_000;

type State = 'received' | 'claimed' | 'handling' | 'interrupted' | 'done' | 'skipped';

interface Row {
  readonly seq: number;
  readonly json: string;
  readonly state: State;
  readonly recorded_at: number;
  readonly owner_pid: number | null;
  readonly owner_start: string | null;
}

interface Mark {
  readonly highest: number;
  readonly at: number;
}

const MARK = 'SELECT highest, at FROM chat_marks WHERE bot = ?';
const SET_MARK =
  'INSERT INTO chat_marks (bot, highest, at) VALUES (?, ?, ?) ON CONFLICT (bot) DO UPDATE SET highest = excluded.highest, at = excluded.at';
const KNOWN = 'SELECT 1 FROM chat_updates WHERE bot = ? AND update_id = ? AND digest = ?';
const INSERT = 'INSERT INTO chat_updates (bot, update_id, digest, json, state, recorded_at) VALUES (?, ?, ?, ?, ?, ?)';
const PRUNE = `DELETE FROM chat_updates WHERE state IN ('done', 'skipped') AND seq <= (SELECT max(seq) FROM chat_updates) - ?`;
const HELD = "SELECT * FROM chat_updates WHERE bot = ? AND state IN ('claimed', 'handling', 'interrupted') ORDER BY seq";
const NEXT = "SELECT * FROM chat_updates WHERE bot = ? AND state = 'received' ORDER BY seq LIMIT 1";
const GIVE_BACK = "UPDATE chat_updates SET state = 'received', owner_pid = NULL, owner_start = NULL, token = NULL WHERE seq = ?";
const TAKE = 'UPDATE chat_updates SET state = ?, owner_pid = ?, owner_start = ?, token = ? WHERE seq = ?';
const BEGIN = "UPDATE chat_updates SET state = CASE state WHEN 'claimed' THEN 'handling' ELSE state END WHERE seq = ? AND token = ?";
const FINISH =
  "UPDATE chat_updates SET state = 'done', json = '', owner_pid = NULL, owner_start = NULL, token = NULL WHERE seq = ? AND token = ?";
const COUNT = `SELECT count(*) FILTER (WHERE state = 'received') AS waiting, count(*) FILTER (WHERE state <> 'received') AS handling
  FROM chat_updates WHERE bot = ? AND state IN ('received', 'claimed', 'handling', 'interrupted')`;

export interface InboxOwner extends ProcessIdentity {
  token(): string;
}

function sentAt(update: ChatUpdate): number | undefined {
  return update.kind === 'message' ? (update.message.editedAt ?? update.message.at) : undefined;
}

/** The {@link ChatInbox} of one bot over a database connection. What was said is forgotten with the update's end; its digest stays. */
export function openChatInbox(db: Database, owner: InboxOwner, bot: string): ChatInbox {
  const isQuiet = ({ at }: Mark, now: number): boolean => now - at > QUIET_MS;

  const record = (updates: readonly ChatUpdate[], { now, oldest }: InboxRules): InboxRecord => {
    let mark = db.get<Mark>(MARK, bot);
    let recorded = 0;
    const skipped: ChatUpdate[] = [];
    for (const update of [...updates].sort((one, other) => one.id - other.id)) {
      if (mark !== undefined && update.id <= mark.highest && !isQuiet(mark, now)) continue;
      const json = JSON.stringify(update);
      const digest = createHash('sha256').update(json).digest('base64');
      if (db.get(KNOWN, bot, update.id, digest) !== undefined) continue;
      const isOld = (sentAt(update) ?? now) < oldest;
      db.run(INSERT, bot, update.id, digest, isOld ? '' : json, isOld ? 'skipped' : 'received', now);
      if (isOld) skipped.push(update);
      else recorded += 1;
      mark = { highest: update.id, at: now };
    }
    if (mark !== undefined) db.run(SET_MARK, bot, mark.highest, mark.at);
    db.run(PRUNE, INBOX_LIMITS.kept);
    return { recorded, skipped };
  };

  const taken = (row: Row, interrupted: boolean): InboxClaim => {
    const token = owner.token();
    db.run(TAKE, interrupted ? 'interrupted' : 'claimed', owner.pid, owner.start, token, row.seq);
    return { seq: row.seq, update: JSON.parse(row.json) as ChatUpdate, recordedAt: row.recorded_at, interrupted, token };
  };

  const isAbandoned = ({ owner_pid, owner_start }: Row): boolean => {
    if (owner_pid === owner.pid && owner_start === owner.start) return false;
    return isGone({ pid: owner_pid ?? 0, start: owner_start ?? '' });
  };

  const claim = (): InboxClaim | undefined => {
    const abandoned = db.all<Row>(HELD, bot).filter(isAbandoned);
    for (const row of abandoned) if (row.state === 'claimed') db.run(GIVE_BACK, row.seq);
    const broken = abandoned.find(({ state }) => state !== 'claimed');
    if (broken !== undefined) return taken(broken, true);
    const next = db.get<Row>(NEXT, bot);
    return next === undefined ? undefined : taken(next, false);
  };

  const held = (changed: number, { seq }: InboxClaim): void => {
    if (changed === 1) return;
    throw new InboxError('inbox_claim_lost', `update number ${seq} of the inbox is not this process's any more`, { value: seq });
  };

  return {
    record: async (updates, rules) => db.transaction(() => record(updates, rules)),
    claim: async () => db.transaction(claim),
    begin: async (of) => held(db.run(BEGIN, of.seq, of.token), of),
    finish: async (of) => held(db.run(FINISH, of.seq, of.token), of),
    async stand(now) {
      const mark = db.get<Mark>(MARK, bot);
      const counts = db.get<{ waiting: number; handling: number }>(COUNT, bot);
      const offset = mark === undefined || isQuiet(mark, now) ? 0 : mark.highest + 1;
      return { offset, waiting: counts?.waiting ?? 0, handling: counts?.handling ?? 0 };
    },
  };
}
