import { OdekError } from './errors.ts';
import type { Message, ToolMessage, Usage } from './message.ts';

/** Slots are system messages that are replaced in place (DECISIONS 7). */
export const SLOT_NAMES = ['memory', 'digest', 'plan', 'plugin_prompt', 'warning'] as const;
export type SlotName = (typeof SLOT_NAMES)[number];

/** The key of a tool call: run id, 1-based iteration, 0-based index. Never the provider's id. */
export type CallKey = `${string}/${number}/${number}`;

/** A tool that a plugin's tool asked core to run. */
export interface CoreCallRecord {
  /** `extension:<plugin>`. */
  readonly by: string;
  readonly tool: string;
  /** Danger class, where it came that far. */
  readonly class?: string;
  /** As the outcome of a call, or `refused`. */
  readonly outcome: string;
  readonly durationMs: number;
}

/**
 * The closed kinds of the append-only journal (DECISIONS 7, 8). What a model sees is a fold over
 * them; nothing is ever rewritten. All text is redacted before it gets here.
 */
export type JournalRecord =
  | { readonly kind: 'message'; readonly run: string; readonly iteration: number; readonly message: Exclude<Message, ToolMessage> }
  | {
      readonly kind: 'tool_started';
      readonly key: CallKey;
      readonly callId: string;
      readonly name: string;
      /** Arguments as executed. */
      readonly arguments: string;
    }
  | {
      readonly kind: 'tool_finished';
      readonly key: CallKey;
      readonly message: ToolMessage;
      readonly durationMs: number;
      /** What the tool, a plugin's, had core do while it ran; at most 64. */
      readonly coreCalls?: readonly CoreCallRecord[];
    }
  /** `content: null` empties the slot. */
  | { readonly kind: 'slot'; readonly name: SlotName; readonly content: string | null }
  /** `dropped` are inclusive ranges of sequence numbers; `shortened` replaces what the model sees of one record. */
  | {
      readonly kind: 'view';
      readonly dropped: readonly (readonly [from: number, to: number])[];
      readonly shortened: readonly { readonly seq: number; readonly content: string }[];
    }
  | {
      readonly kind: 'usage';
      readonly run: string;
      readonly provider: string;
      readonly model: string;
      readonly purpose: 'main' | 'side';
      readonly usage: Usage;
      /** Millionths of a US dollar; absent when no price is configured. */
      readonly costMicroUsd?: number;
    }
  | {
      readonly kind: 'approval_asked';
      readonly key: CallKey;
      readonly approvalId: string;
      readonly class: string;
      readonly resource: string;
    }
  | {
      readonly kind: 'approval_answered';
      readonly key: CallKey;
      readonly approvalId: string;
      readonly decision: string;
      readonly by: string;
    };

/** A journal record and its place: `seq` starts at 1 and has no gaps within a session. */
export interface StoredRecord {
  readonly seq: number;
  readonly at: number;
  readonly record: JournalRecord;
}

/** How the newest run of a session stands. `running` under a dead holder means it was interrupted. */
export interface LastRun {
  readonly id: string;
  readonly state: 'running' | 'answer' | 'partial' | 'budget' | 'cancelled' | 'failed';
}

export interface ExternalRef {
  readonly kind: string;
  readonly uri: string;
  readonly created_by: string;
  readonly read_only: boolean;
  readonly created_at: string;
}

export interface SessionHeader {
  /** `YYYYMMDD-` and 32 hex digits, or a surface's own form. At most 128 of `[A-Za-z0-9_.-]`, not starting with a dot. */
  readonly id: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The first task, redacted, at most 200 code points. */
  readonly title: string;
  readonly provider: string;
  readonly model: string;
  /** Directory the session works in. */
  readonly workspace: string;
  /** False for an ephemeral session: not listed, removed after a normal end. */
  readonly listed: boolean;
  /** User messages so far. */
  readonly turns: number;
  /** Messages in the journal, tool results included. */
  readonly messages: number;
  readonly input: number;
  readonly output: number;
  readonly lastRun?: LastRun;
  readonly externalRefs: readonly ExternalRef[];
}

export type NewSession = Pick<SessionHeader, 'id' | 'title' | 'provider' | 'model' | 'workspace' | 'listed' | 'externalRefs'>;

/** Facts a writer may change. Counters follow the journal by themselves. */
export type SessionPatch = Partial<Pick<SessionHeader, 'title' | 'provider' | 'model' | 'listed' | 'lastRun' | 'externalRefs'>>;

/** Who holds a session, for the error that a second writer gets. */
export interface SessionHolder {
  readonly pid: number;
  readonly surface: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** The one writer of a session. */
export interface SessionWriter {
  /** As it was when the session was opened. */
  readonly header: SessionHeader;
  /** The journal as it was when the session was opened, in order. */
  readonly records: readonly StoredRecord[];
  /** Stores all records or none, and returns the sequence number of the last. */
  append(records: readonly JournalRecord[]): Promise<number>;
  update(patch: SessionPatch): Promise<void>;
  /** Gives the session up. `discard` removes it. Idempotent. */
  close(options?: { readonly discard?: boolean }): Promise<void>;
}

export interface SessionQuery {
  /** Newest first by `updatedAt`. */
  readonly limit: number;
  /** Full text in titles, user and assistant messages. */
  readonly text?: string;
  readonly updatedBefore?: number;
  /** Also ephemeral ones. */
  readonly unlisted?: boolean;
}

/**
 * Sessions on disk.
 *
 * Contract:
 * - What `append` stored is read back in order, by this process and by any other, once the promise resolved.
 * - A killed process loses nothing that was appended.
 * - One writer a session: a second `open` waits up to `waitMs`, then rejects with `session_busy` naming the holder.
 * - A writer whose lease was taken over rejects every `append` with `lease_lost`; nothing interleaves.
 * - A holder that died does not block: its lease is taken over at once.
 * - Readers never wait for a writer.
 * - `append` does work in proportion to what is appended, not to what is there.
 * - Failures reject with {@link SessionError} and leave what was stored untouched.
 */
export interface SessionStore {
  create(session: NewSession): Promise<SessionWriter>;
  open(id: string, options: { readonly waitMs: number }, signal: AbortSignal): Promise<SessionWriter>;
  read(id: string): Promise<{ readonly header: SessionHeader; readonly records: readonly StoredRecord[] }>;
  find(query: SessionQuery): Promise<readonly SessionHeader[]>;
  /** Removes those that exist and nobody holds; returns how many went. */
  remove(ids: readonly string[]): Promise<number>;
}

export type SessionErrorCode =
  | 'session_not_found'
  | 'session_exists'
  | 'session_busy'
  | 'lease_lost'
  | 'invalid_session_id'
  | 'disk_full'
  | 'read_only_filesystem'
  | 'permission_denied'
  | 'database_corrupt'
  | 'database_newer'
  | 'store_error';

export class SessionError extends OdekError {
  /** With `session_busy`: who holds it. */
  readonly holder: SessionHolder | undefined;

  constructor(
    code: SessionErrorCode,
    message: string,
    details: { value?: unknown; limit?: unknown; cause?: unknown; holder?: SessionHolder } = {},
  ) {
    super(code, message, details);
    this.holder = details.holder;
  }
}
