/** A session among others. Titles are redacted. */
export interface SessionSummary {
  readonly id: string;
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly turns: number;
  readonly model: string;
}

/** A session in which words were found. */
export interface SessionHit extends SessionSummary {
  /** How many of the words were found in it. */
  readonly matched: number;
  /** At most 100 characters around the first place; empty when it could not be read. */
  readonly snippet: string;
}

export interface SessionMessage {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** A session's own words, without what tools returned. */
export interface SessionMessages {
  readonly session: SessionSummary;
  /** The newest that fit, in order. */
  readonly messages: readonly SessionMessage[];
  /** Older messages that were left out. */
  readonly omitted: number;
}

/**
 * Past sessions (DECISIONS 19).
 *
 * Contract (the `session-search` suite):
 * - `list` gives listed sessions alone, those that changed last first, at most `limit`.
 * - `find` gives those whose title holds the text, in any case.
 * - `search` gives those in which at least two of the words occur, or the only one; the more words, the earlier.
 * - A word counts from two characters on, and a text without one finds nothing.
 * - The run that asks does not find its own session by its words.
 * - `messages` gives user and assistant messages in order, the newest that fit, and `undefined` for an id that does not exist.
 */
export interface SessionSearch {
  list(limit: number): Promise<readonly SessionSummary[]>;
  find(text: string, limit: number): Promise<readonly SessionSummary[]>;
  /** `run` as in `ToolExecution.runId`. */
  search(text: string, limit: number, run?: string): Promise<readonly SessionHit[]>;
  messages(id: string): Promise<SessionMessages | undefined>;
}
