/** Untrusted content that came in front of the model. */
export interface AuditIngest {
  /** 1-based number of the user message it belongs to. */
  readonly turn: number;
  /** Label of its wrapper, redacted; at most 1,024 characters. */
  readonly source: string;
  /** First 16 hex digits of the SHA-256 of the text that the model got, without wrapper. */
  readonly content_hash: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** What one turn of a session did. All text is redacted; lists have at most 256 entries of at most 1,024 characters. */
export interface AuditTurn {
  readonly turn: number;
  /** As typed, before references in it were resolved; at most 4,096 characters. */
  readonly user_message: string;
  /** Names of the tools that were called, in order. */
  readonly tool_calls: readonly string[];
  /** Addresses, paths and files in arguments or in the answer that the user did not name. */
  readonly novel_resources: readonly string[];
  /** Those in arguments or in the answer that stood in untrusted content under another source than themselves. */
  readonly untrusted_resources: readonly string[];
  /** Untrusted content was in what the model saw. */
  readonly ingested_untrusted: boolean;
  /** It was, and one of both lists of resources has an entry. */
  readonly suspicious_divergence: boolean;
}

export interface SessionAudit {
  readonly session_id: string;
  /** In the order they came. */
  readonly ingests: readonly AuditIngest[];
  /** By number. */
  readonly turns: readonly AuditTurn[];
}

/** One line of the list of audits. */
export interface AuditSummary {
  readonly session_id: string;
  readonly ingests: number;
  readonly turns: number;
  /** Turns with a suspicious divergence. */
  readonly suspicious: number;
  readonly first_source?: string;
}

export type AuditEntry =
  | { readonly kind: 'ingest'; readonly ingest: AuditIngest }
  /** A turn that is there already is replaced. */
  | { readonly kind: 'turn'; readonly turn: AuditTurn };

/**
 * What untrusted content went into each session, and what came of it.
 *
 * Contract (the `audit-store` suite):
 * - What was noted is stored once the next append of the session's writer, or its close, resolved: in one commit with it.
 * - It is stored without either once `flush` resolved.
 * - Ingests are read in the order they were noted, turns by their number.
 * - A turn that is noted again replaces the one that was there.
 * - `list` gives the sessions that have an audit, the one written to last first, at most `limit`.
 * - `read` of a session without an audit gives empty lists; of one that does not exist it rejects with `session_not_found`.
 * - The audit goes with its session.
 */
export interface AuditStore {
  /** Never throws. Notes of a session that does not exist, or no longer, are dropped. */
  note(sessionId: string, entry: AuditEntry): void;
  flush(sessionId: string): Promise<void>;
  read(sessionId: string): Promise<SessionAudit>;
  list(limit: number): Promise<readonly AuditSummary[]>;
}
