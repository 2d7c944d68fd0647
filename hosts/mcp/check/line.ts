import type { SchemaValidator } from '../../../ports/schema.ts';
import type { PeerCommand } from './peer.ts';

const PATIENCE_MS = 5_000;

export type Verdict = 'pass' | 'fail' | 'skip';

/** One line of the table. */
export interface Line {
  readonly id: string;
  /** Anchor of `docs/extensions.md`. */
  readonly section: string;
  readonly title: string;
  readonly verdict: Verdict;
  /** Why it failed or was skipped; may be empty for a pass. */
  readonly detail: string;
}

/** What a check found: nothing is a pass. A text is the fault. */
export type Finding = string | undefined | { readonly skip: string };

export interface CheckOptions extends PeerCommand {
  /** Folders that may hold artifacts. */
  readonly artifactRoots: readonly string[];
  /** A tool that may be called without harm, beside the fixtures, and its arguments. */
  readonly call?: { readonly tool: string; readonly input: Readonly<Record<string, unknown>> };
  readonly validator: SchemaValidator;
  /** Milliseconds for what should happen at once, and for the end of the process. Default: 5000. */
  readonly patienceMs?: number;
  readonly signal: AbortSignal;
  onLine?(line: Line): void;
}

/** Adds a line to the table. Never rejects: what goes wrong is the line's fault. */
export type Check = (id: string, section: string, title: string, look: () => Promise<Finding> | Finding) => Promise<void>;

export interface ListedTool {
  readonly name: string;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
}

export function patienceOf({ patienceMs = PATIENCE_MS }: CheckOptions): number {
  return patienceMs;
}
