import type { CallSpeed, ErrorClass } from '../../ports/event.ts';
import type { ToolCall, ToolOutcome } from '../../ports/message.ts';
import type { CallKey, JournalRecord } from '../../ports/session.ts';
import type { Judgement } from '../approvals/judge.ts';
import type { Budget } from '../budget/budget.ts';
import type { Transcript } from '../transcript/transcript.ts';
import type { CallIds } from './call-ids.ts';
import type { Emit } from './emitter.ts';
import type { Journal } from './journal.ts';
import type { PreparedCall } from './prepare.ts';
import type { AgentDeps, AgentSettings } from './settings.ts';
import type { Thought } from './thought.ts';

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

/** One call of a batch, ended. `content` is redacted and bounded, without wrapper. */
export interface EndedCall {
  readonly key: CallKey;
  /** As executed. */
  readonly call: ToolCall;
  readonly prepared: PreparedCall;
  /** Absent for a call that was refused before it was judged. */
  readonly judgement: Judgement | undefined;
  readonly outcome: ToolOutcome;
  /** With an outcome other than `completed`. */
  readonly errorClass: ErrorClass;
  readonly content: string;
  /** Label of the untrusted wrapper around it, redacted. Absent: odek wrote the content itself. */
  readonly source?: string;
}

/** What a stage makes of an answer. */
export type AnswerVerdict =
  /** Not yet: the text goes to the model as a system message and the loop goes on. */
  | { readonly kind: 'again'; readonly hint: string }
  /** The answer with something added or put before it. */
  | { readonly kind: 'answer'; readonly text: string };

/**
 * A concern of the loop beside thinking and acting: context, plan, recovery, verification. Stages are
 * asked in order; every method is optional. One stage object serves one run.
 */
export interface Stage {
  readonly name: string;
  /** Once, before the first iteration and after the task was stored: take up state from the transcript. */
  begin?(state: RunState): Promise<void>;
  /** Before each request. Changes the transcript and journals what it changed. */
  beforeThink?(state: RunState): Promise<void>;
  /** The provider refused a request as too long. True: it is smaller now, ask again. */
  onTooLong?(state: RunState): Promise<boolean>;
  /** Before the calls of a response run. */
  beforeBatch?(state: RunState, calls: readonly PreparedCall[]): void;
  /** The call waits for every earlier call of its batch, and later ones wait for it. */
  isBarrier?(call: PreparedCall): boolean;
  /** `later` begins only once the result of `earlier`, a call of the same batch, is stored. */
  mustFollow?(later: PreparedCall, earlier: PreparedCall): boolean;
  /** After each call, in the order they end. What it returns is stored in one commit with the result. */
  afterCall?(state: RunState, ended: EndedCall): readonly JournalRecord[];
  /** Once that commit is stored, in the same order, before the end of the call is told: the place for events. */
  afterStored?(state: RunState, ended: EndedCall): void;
  /** After a batch, in call order. Returns hints: all stages' hints go to the model as one system message. */
  afterBatch?(state: RunState, ended: readonly EndedCall[]): Promise<readonly string[]>;
  /** The model answered, never with nothing. The first stage that says `again` wins; texts are handed from stage to stage. */
  onAnswer?(state: RunState, thought: Thought, text: string): Promise<AnswerVerdict | undefined>;
  /** An answer that the stage sent back and that no other has replaced: shipped when the run stops before one does. */
  heldBack?(): string | undefined;
  /** What is still to be done, for reports and side calls. */
  remaining?(state: RunState): string | undefined;
  /** A limit ends the run. `message` is kept for the model that goes on with the session, `told` is for a person. */
  atLimit?(state: RunState): { readonly message: string; readonly told: string } | undefined;
  /** The run is over, however it ended: nothing it started may go on. */
  end?(): void;
}
