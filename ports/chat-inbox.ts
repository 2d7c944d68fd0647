import type { ChatUpdate } from './chat.ts';
import { OdekError } from './errors.ts';

/** The right to handle an update. Only its holder can begin and finish it. */
export interface InboxClaim {
  /** Grows with every recorded update. */
  readonly seq: number;
  readonly update: ChatUpdate;
  readonly recordedAt: number;
  /** A process died after `begin`: what it did is not known. To be told, not to be handled again. */
  readonly interrupted: boolean;
  readonly token: string;
}

export interface InboxRules {
  readonly now: number;
  /** A message sent before this instant is recorded as skipped. */
  readonly oldest: number;
}

export interface InboxRecord {
  /** New ones that wait now. */
  readonly recorded: number;
  /** New ones that are older than asked for: nobody will handle them. */
  readonly skipped: readonly ChatUpdate[];
}

/** `waiting` and `handling` are counts. */
export interface InboxStand {
  /** What the next poll begins at; 0 after six days without an update, when the service may count anew. */
  readonly offset: number;
  readonly waiting: number;
  readonly handling: number;
}

export const INBOX_LIMITS = {
  /** Ended updates that are remembered. */
  kept: 10_000,
  /** Updates that wait; with as many nobody should poll, since the service keeps them too. */
  waiting: 2_000,
} as const;

/**
 * Updates of one bot, recorded before they are handled, so that each is handled once.
 *
 * Contract (the `chat-inbox` suite):
 * - What `record` stored is there for every process once its promise resolved, together with the offset that follows it.
 * - An update that was recorded before is not recorded again, also after a restart and after it was finished.
 * - Ids that begin anew, lower or higher, after a week without updates are recorded as new ones.
 * - `record` skips a message that is older than `oldest` and tells it; `claim` never gives it.
 * - `claim` gives the oldest update that waits, to one process at a time; undefined when there is none.
 * - An update that was claimed and not begun waits again when its process died.
 * - An update that was begun comes back when its process died, as `interrupted`, and never as a new one.
 * - `finish` ends an update for good; `begin` and `finish` of a claim that is not this process's any more reject with `inbox_claim_lost`.
 * - Ended updates are forgotten when 10,000 newer ones are there; one that waits is never pruned.
 * - `stand` counts what waits and what is being handled.
 */
export interface ChatInbox {
  record(updates: readonly ChatUpdate[], rules: InboxRules): Promise<InboxRecord>;
  claim(): Promise<InboxClaim | undefined>;
  /** Right before the first effect. */
  begin(claim: InboxClaim): Promise<void>;
  finish(claim: InboxClaim): Promise<void>;
  stand(now: number): Promise<InboxStand>;
}

export type InboxErrorCode = 'inbox_claim_lost';

export class InboxError extends OdekError {
  constructor(code: InboxErrorCode, message: string, details: { value?: unknown; limit?: unknown; cause?: unknown } = {}) {
    super(code, message, details);
  }
}
