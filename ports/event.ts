import type { ApprovalRequest, ApprovalVerdict } from './approval.ts';
import type { AssistantMessage, ToolOutcome } from './message.ts';
import type { PlanView } from './plan.ts';

/** Low-cardinality class of a failure in events. Raw error text is never emitted. */
export type ErrorClass = 'context_canceled' | 'deadline_exceeded' | 'tool_error' | 'error';

export type BudgetLimitName = 'runtime' | 'tool_calls' | 'input_tokens' | 'output_tokens' | 'cost_usd';

/** Structured, low-cardinality audit data of a call's arguments (EXTENSIONS, "Event schema"). */
export interface ArgsSummary {
  readonly argv0?: string;
  readonly path?: string | readonly string[];
  readonly host?: string;
  readonly class?: string;
}

/** Speed of one model call; a field is absent when zero or unknown. */
export interface CallSpeed {
  readonly call_duration_ms?: number;
  readonly ttft_ms?: number;
  readonly generation_ms?: number;
  readonly call_input_tokens?: number;
  readonly call_output_tokens?: number;
  readonly tokens_per_second?: number;
  readonly generation_tokens_per_second?: number;
}

/** Data of every `odek.event/v1` type, in wire form (EXTENSIONS, "Per-type data fields"; DECISIONS 1). */
export interface WireData {
  run_started: { readonly model: string; readonly sandbox: boolean; readonly max_iterations: number };
  iteration_completed: CallSpeed & {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly tools_called: readonly string[];
  };
  tool_call_started: {
    readonly call_id: string;
    readonly args_sha256: string;
    readonly args_bytes: number;
    readonly args_summary?: ArgsSummary;
    /** Raw, redacted arguments; only where the operator asked for them. */
    readonly args?: string;
  };
  tool_call_completed: {
    readonly call_id: string;
    readonly duration_ms: number;
    readonly result_bytes: number;
    readonly artifact_count: number;
  };
  tool_call_failed: { readonly call_id: string; readonly duration_ms: number; readonly error_class: ErrorClass };
  session_saved: { readonly message_count: number };
  context_trimmed: { readonly mode: 'proactive' | 'survival'; readonly dropped_groups: number; readonly truncated_results: number };
  budget_exceeded: { readonly limit_name: BudgetLimitName; readonly observed: number; readonly limit: number };
  run_completed: {
    readonly duration_ms: number;
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly llm_duration_ms: number;
    readonly tokens_per_second?: number;
  };
  run_failed: {
    readonly duration_ms: number;
    readonly error_class: ErrorClass;
    readonly llm_duration_ms?: number;
    readonly tokens_per_second?: number;
  };
  plan_created: { readonly steps: number; readonly version: number };
  plan_updated: {
    readonly steps: number;
    readonly done: number;
    readonly in_progress: number;
    readonly blocked: number;
    readonly pending: number;
    readonly version: number;
  };
  plan_blocked: { readonly steps: number; readonly blocked: number; readonly version: number };
  plan_reassessment: { readonly reason: 'repeated_check_failure' | 'varied_tool_failures'; readonly failure_batches: 3 };
  verification_started: { readonly cycle: number };
  verification_completed: { readonly cycle: number; readonly verdict: string };
  subagent_denied: { readonly task_index: number; readonly class: string; readonly reason: string };
  subagent_spawned: {
    readonly task_id: string;
    readonly pid: number;
    readonly depth: number;
    readonly timeout_seconds: number;
    readonly goal_sha256: string;
  };
  subagent_completed: {
    readonly task_id: string;
    readonly status: string;
    readonly iterations?: number;
    readonly duration_seconds?: number;
    readonly tokens_used?: number;
    readonly artifact_count?: number;
  };
  subagent_concurrency_wait: { readonly task_index: number; readonly waited_ms: number };
  bg_started: { readonly job_id: string; readonly command_sha256: string };
  bg_exited: { readonly job_id: string; readonly status: string; readonly exit_code?: number };
}

export type WireType = keyof WireData;

/** One line of the `odek.event/v1` stream. */
export type WireEvent = {
  [T in WireType]: {
    readonly schema: 'odek.event/v1';
    readonly type: T;
    readonly run_id: string;
    readonly session_id?: string;
    readonly iteration?: number;
    readonly tool?: string;
    /** RFC 3339, UTC. */
    readonly timestamp: string;
    readonly data: WireData[T];
  };
}[WireType];

/** Event bodies that have a wire form. `args` is live-only: the redacted arguments, for the renderer. */
export type WireBody = {
  [T in WireType]: {
    readonly type: T;
    readonly iteration?: number;
    readonly tool?: string;
    readonly data: WireData[T];
    readonly args?: string;
  };
}[WireType];

/** Event bodies that only live views see; sinks never get them. */
export type LiveBody =
  | { readonly type: 'iteration_started'; readonly iteration: number; readonly max_iterations: number }
  | { readonly type: 'text_delta'; readonly iteration: number; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly iteration: number; readonly text: string }
  /** The whole assistant message of an iteration, redacted and stored. */
  | { readonly type: 'message'; readonly iteration: number; readonly message: AssistantMessage; readonly final: boolean }
  /** The redacted, bounded result of a call, before the untrusted wrapper. */
  | {
      readonly type: 'tool_result';
      readonly iteration: number;
      readonly tool: string;
      readonly call_id: string;
      readonly outcome: ToolOutcome;
      readonly content: string;
    }
  | {
      readonly type: 'usage';
      readonly iteration: number;
      readonly input_tokens: number;
      readonly output_tokens: number;
      readonly cache_read?: number;
      readonly cache_write?: number;
      readonly cost_usd?: number;
      readonly estimated: boolean;
      readonly budget_used?: number;
    }
  | {
      readonly type: 'signal';
      readonly name: 'budget_warning' | 'tool_recovery' | 'tool_running' | 'reply_ledger_mismatch' | 'context_trimmed' | 'model_retry';
      readonly detail: string;
      readonly iteration?: number;
    }
  /** The plan as it is stored: after each change, and when a run takes up an open plan. Redacted. */
  | { readonly type: 'plan'; readonly view: PlanView }
  | { readonly type: 'approval_asked'; readonly request: ApprovalRequest }
  | { readonly type: 'approval_answered'; readonly request_id: string; readonly verdict: ApprovalVerdict }
  /** A person is asked something in the middle of a run, and it is settled. */
  | { readonly type: 'question_asked'; readonly question_id: string; readonly text: string }
  | { readonly type: 'question_answered'; readonly question_id: string }
  | { readonly type: 'hint'; readonly iteration: number; readonly text: string }
  | { readonly type: 'notice'; readonly level: 'info' | 'warning'; readonly text: string }
  | { readonly type: 'sink_dropped'; readonly sink: string; readonly count: number };

export type RunEventBody = WireBody | LiveBody;

/** Everything observable about a run: one closed union (DECISIONS 1). */
export type RunEvent = RunEventBody & {
  /** 32 hex digits. */
  readonly runId: string;
  readonly sessionId?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
};
