import type { CallSpeed } from '../../ports/event.ts';
import type { Budget } from '../budget/budget.ts';
import type { Transcript } from '../transcript/transcript.ts';
import type { CallIds } from './call-ids.ts';
import type { Emit } from './emitter.ts';
import type { Journal } from './journal.ts';
import type { AgentDeps, AgentSettings } from './settings.ts';
import type { Stage } from './stage.ts';

/** What the stages of one run share. Only the loop and the think stage write to the counters. */
export interface RunState {
  readonly deps: AgentDeps;
  readonly settings: AgentSettings;
  readonly runId: string;
  readonly sessionId: string;
  readonly transcript: Transcript;
  readonly callIds: CallIds;
  readonly journal: Journal;
  readonly budget: Budget;
  readonly emit: Emit;
  readonly stages: readonly Stage[];
  /** Fires on cancel and when the runtime limit is up; `reason` tells which. */
  readonly signal: AbortSignal;
  readonly startedAt: number;
  /** 1-based; 0 before the first. */
  iteration: number;
  /** Milliseconds spent in main model calls, and the tokens they produced. */
  llmMs: number;
  llmOutputTokens: number;
  /** Input tokens of the last main call whose provider reported any: as estimated before it, and as reported, cached ones included. */
  lastCall?: { readonly estimated: number; readonly reported: number };
}

const SHORTEST_MEASURED_MS = 50;

/** Tokens a second with one decimal; `undefined` when the time is too short to mean anything. */
export function tokensPerSecond(tokens: number, ms: number): number | undefined {
  if (ms < SHORTEST_MEASURED_MS || tokens <= 0) return undefined;
  return Math.round((tokens / ms) * 10_000) / 10;
}

/** What is left of an object once undefined and zero fields are gone. */
export function measured(fields: { [K in keyof CallSpeed]: number | undefined }): CallSpeed {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value > 0));
}
