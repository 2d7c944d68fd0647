import type { ApprovalRequest } from '../../ports/approval.ts';
import {
  type Answerer,
  APPROVAL_LIMITS,
  type ApprovalAnswer,
  type ApprovalAudience,
  type ApprovalEnd,
  ApprovalError,
  type ApprovalStore,
  answererText,
  type PendingApproval,
} from '../../ports/approval-store.ts';
import type { Clock } from '../../ports/clock.ts';
import { CancelledError } from '../../ports/errors.ts';
import type { Database } from './database.ts';
import { isGone, type ProcessIdentity } from './process-identity.ts';

/** How often a wait looks, in milliseconds: one row by its key. */
const POLL_MS = 100;
/** How long a request that is over is remembered, for those who come late. */
const KEEP_MS = 24 * 3_600_000;
/** Of requests that are over, those older than this many are forgotten. */
const MAX_ROWS = 1024;

interface Row {
  readonly id: string;
  readonly request: string;
  readonly audience: string | null;
  readonly asked_at: number;
  readonly expires_at: number;
  readonly asker_pid: number;
  readonly asker_start: string;
  readonly withdrawn: number;
  readonly decision: string | null;
  readonly by_surface: string | null;
  readonly by_user: string | null;
}

const INSERT = `INSERT INTO approvals (id, request, audience, asked_at, expires_at, asker_pid, asker_start) VALUES (?, ?, ?, ?, ?, ?, ?)`;
const BY_ID = 'SELECT * FROM approvals WHERE id = ?';
const OPEN_ROWS = 'SELECT * FROM approvals WHERE decision IS NULL AND withdrawn = 0 AND expires_at > ? ORDER BY n';
const FORGET = `DELETE FROM approvals WHERE expires_at < ?
  OR ((decision IS NOT NULL OR withdrawn <> 0) AND n <= (SELECT max(n) FROM approvals) - ?)`;
const ANSWER = `UPDATE approvals SET decision = ?, by_surface = ?, by_user = ?
  WHERE id = ? AND decision IS NULL AND withdrawn = 0 AND expires_at > ?`;
const WITHDRAW = 'UPDATE approvals SET withdrawn = 1 WHERE id = ? AND decision IS NULL';

/** Lone surrogates and NUL would come back changed, and names are shown to people. */
const isName = (name: unknown): name is string =>
  typeof name === 'string' && name !== '' && name.length <= APPROVAL_LIMITS.name && name.isWellFormed() && !/\p{C}/u.test(name);

function invalid(message: string, value: unknown, limit: unknown): ApprovalError {
  return new ApprovalError('approval_invalid', message, { value, limit });
}

const ANSWERS: readonly ApprovalAnswer[] = ['approve', 'trust', 'deny'];

function checkAnswer(decision: ApprovalAnswer, { surface, user }: Answerer): void {
  if (!ANSWERS.includes(decision)) throw invalid(`an answer is one of ${ANSWERS.join(', ')}`, decision, ANSWERS);
  for (const name of user === undefined ? [surface] : [surface, user]) {
    if (!isName(name)) throw invalid('who answers is named by 1 to 256 characters', name, APPROVAL_LIMITS.name);
  }
}

/** The request and its audience as they are stored. */
function checked(request: ApprovalRequest, audience: ApprovalAudience | undefined): readonly [request: string, audience: string | null] {
  const { id, timeoutMs } = request;
  if (!isName(id)) throw invalid('a request has an id of 1 to 256 characters', id, APPROVAL_LIMITS.name);
  if (!(timeoutMs > 0 && timeoutMs <= APPROVAL_LIMITS.timeoutMs)) {
    throw invalid(`a request waits for more than 0 and at most ${APPROVAL_LIMITS.timeoutMs} ms`, timeoutMs, APPROVAL_LIMITS.timeoutMs);
  }
  const users = audience?.users ?? [];
  if (users.length > APPROVAL_LIMITS.users) {
    throw invalid(`at most ${APPROVAL_LIMITS.users} users are named for an answer`, users.length, APPROVAL_LIMITS.users);
  }
  if (audience !== undefined && ![audience.surface, ...users].every(isName)) {
    throw invalid('who may answer is named by 1 to 256 characters', audience.surface, APPROVAL_LIMITS.name);
  }
  const texts = [JSON.stringify(request), audience === undefined ? null : JSON.stringify(audience)] as const;
  const chars = texts[0].length + (texts[1]?.length ?? 0);
  if (chars > APPROVAL_LIMITS.chars) {
    throw invalid(`the request is ${chars} characters long, more than ${APPROVAL_LIMITS.chars}`, chars, APPROVAL_LIMITS.chars);
  }
  return texts;
}

const audienceOf = (row: Row): ApprovalAudience | undefined =>
  row.audience === null ? undefined : (JSON.parse(row.audience) as ApprovalAudience);

function belongs({ surface, user }: Answerer, audience: ApprovalAudience | undefined): boolean {
  if (audience === undefined) return true;
  return audience.surface === surface && (audience.users === undefined || (user !== undefined && audience.users.includes(user)));
}

function answerOf({ decision, by_surface, by_user }: Row): { readonly decision: ApprovalAnswer; readonly by: Answerer } | undefined {
  if (decision === null) return undefined;
  return {
    decision: decision as ApprovalAnswer,
    by: { surface: by_surface ?? 'unknown', ...(by_user !== null && { user: by_user }) },
  };
}

/** The {@link ApprovalStore} over one database connection. `asker` is this process, which asks and may die. */
export function openApprovals(db: Database, asker: ProcessIdentity, clock: Clock): ApprovalStore {
  const isOwn = (row: Row): boolean => row.asker_pid === asker.pid && row.asker_start === asker.start;
  const isAbandoned = (row: Row): boolean => !isOwn(row) && isGone({ pid: row.asker_pid, start: row.asker_start });
  const openRows = (): readonly Row[] => db.all<Row>(OPEN_ROWS, clock.now()).filter((row) => !isAbandoned(row));

  const found = (id: string): Row => {
    const row = db.get<Row>(BY_ID, id);
    if (row === undefined)
      throw new ApprovalError('approval_not_found', `there is no request ${JSON.stringify(id.slice(0, 64))}`, { value: id });
    return row;
  };

  /** Why the row takes no answer any more; undefined while it does. */
  const closed = (row: Row): ApprovalError | undefined => {
    const first = answerOf(row);
    if (first !== undefined) {
      const message = `the request was answered already: "${first.decision}" by ${answererText(first.by)}`;
      return new ApprovalError('approval_answered', message, { value: row.id, first });
    }
    const why = row.withdrawn !== 0 ? 'was withdrawn' : row.expires_at <= clock.now() ? 'has run out of time' : undefined;
    const over = why ?? (isAbandoned(row) ? 'comes from a run that is gone' : undefined);
    return over === undefined
      ? undefined
      : new ApprovalError('approval_over', `the request ${over}: nobody waits for an answer`, { value: row.id });
  };

  const answer = (id: string, decision: ApprovalAnswer, by: Answerer): void => {
    const row = found(id);
    const refusal = closed(row);
    if (refusal !== undefined) throw refusal;
    if (!belongs(by, audienceOf(row))) {
      throw new ApprovalError('approval_not_yours', `${answererText(by)} may not answer this request`, { value: answererText(by) });
    }
    if (decision === 'trust' && !(JSON.parse(row.request) as ApprovalRequest).allowTrust) {
      throw new ApprovalError('trust_not_offered', 'trust is not offered for this request: approve or deny it', { value: decision });
    }
    db.run(ANSWER, decision, by.surface, by.user ?? null, id, clock.now());
  };

  const endOf = (row: Row): ApprovalEnd | undefined => {
    const first = answerOf(row);
    if (first !== undefined) return first;
    return closed(row) === undefined ? undefined : { decision: 'timeout' };
  };

  return {
    async ask(request, audience) {
      const [text, audienceText] = checked(request, audience);
      const now = clock.now();
      db.transaction(() => {
        db.run(FORGET, now - KEEP_MS, MAX_ROWS);
        if (db.get<Row>(BY_ID, request.id) !== undefined) throw invalid('a request with this id was asked already', request.id, undefined);
        for (const row of db.all<Row>(OPEN_ROWS, now)) if (isAbandoned(row)) db.run(WITHDRAW, row.id);
        const waiting = openRows().length;
        if (waiting >= APPROVAL_LIMITS.pending) {
          const message = `${waiting} requests wait for an answer already; answer some of them first`;
          throw new ApprovalError('approvals_full', message, { value: waiting, limit: APPROVAL_LIMITS.pending });
        }
        db.run(INSERT, request.id, text, audienceText, now, now + Math.ceil(request.timeoutMs), asker.pid, asker.start);
      });
    },
    async pending() {
      return openRows().map((row): PendingApproval => {
        const audience = audienceOf(row);
        return {
          request: JSON.parse(row.request) as ApprovalRequest,
          ...(audience !== undefined && { audience }),
          askedAt: row.asked_at,
          expiresAt: row.expires_at,
        };
      });
    },
    async answer(id, decision, by) {
      checkAnswer(decision, by);
      // In one write transaction with the look before it, so that of two answers one is first.
      db.transaction(() => answer(id, decision, by));
    },
    async wait(id, signal) {
      for (;;) {
        if (signal.aborted) throw new CancelledError();
        const row = found(id);
        const end = endOf(row);
        if (end !== undefined) return end;
        await clock.sleep(Math.min(POLL_MS, Math.max(1, row.expires_at - clock.now())), signal);
      }
    },
    async withdraw(id) {
      db.run(WITHDRAW, id);
    },
  };
}
