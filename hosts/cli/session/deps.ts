import type { SessionStore } from '../../../ports/session.ts';
import type { FlagValue } from '../command.ts';

/** What a session command works with. Lines go out without their line end. */
export interface SessionDeps {
  readonly store: SessionStore;
  out(line: string): void;
  err(line: string): void;
  /** Milliseconds since the epoch. */
  now(): number;
  /** `json`: print JSON instead of text, where a command can. */
  readonly flags?: Readonly<Record<string, FlagValue>>;
}

/** The command line is wrong; the message says how it should be. */
export class UsageError extends Error {}

/** One command: its arguments behind the action. Returns the exit code. */
export type SessionCommand = (args: readonly string[], deps: SessionDeps) => Promise<number>;
