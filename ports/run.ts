import type { Usage } from './message.ts';

/** How a run ended (DECISIONS 6). */
export type RunOutcome = 'answer' | 'partial' | 'budget' | 'cancelled' | 'failed';

/** What `--json` prints and every surface gets. Fields are in wire form. */
export interface RunResult {
  /** The final text; a partial summary where the run stopped early; empty when there is none. */
  readonly answer: string;
  readonly outcome: RunOutcome;
  readonly session_id: string;
  readonly run_id: string;
  readonly iterations: number;
  /** The whole run, side calls included. */
  readonly usage: Usage;
  /** Absent when no price is configured. */
  readonly cost_usd?: number;
  readonly duration_ms: number;
  /** With `failed`, `budget` and `cancelled`: what happened, redacted. */
  readonly error?: { readonly code: string; readonly message: string };
}
