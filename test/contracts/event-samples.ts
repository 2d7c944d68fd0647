import type { WireData, WireType } from '../../ports/event.ts';

type Complete<T> = { readonly [K in keyof T]-?: T[K] };

/** One value of every wire type with all of its fields, so that schema and types can be compared both ways. */
export const WIRE_SAMPLES: { readonly [T in WireType]: Complete<WireData[T]> } = {
  run_started: { model: 'm', sandbox: false, max_iterations: 90 },
  iteration_completed: {
    input_tokens: 10,
    output_tokens: 5,
    tools_called: ['read_file'],
    call_duration_ms: 100,
    ttft_ms: 20,
    generation_ms: 80,
    call_input_tokens: 10,
    call_output_tokens: 5,
    tokens_per_second: 50,
    generation_tokens_per_second: 62.5,
  },
  tool_call_started: {
    call_id: 'it1-call0',
    args_sha256: 'a'.repeat(64),
    args_bytes: 2,
    args_summary: { argv0: 'ls', path: ['a', 'b'], host: 'example.test', class: 'safe' },
    args: '{}',
  },
  tool_call_completed: { call_id: 'it1-call0', duration_ms: 4, result_bytes: 812, artifact_count: 0 },
  tool_call_failed: { call_id: 'it1-call0', duration_ms: 4, error_class: 'tool_error' },
  session_saved: { message_count: 4 },
  context_trimmed: { mode: 'proactive', dropped_groups: 1, truncated_results: 2 },
  budget_exceeded: { limit_name: 'cost_usd', observed: 1.01, limit: 1 },
  run_completed: { duration_ms: 900, input_tokens: 10, output_tokens: 5, llm_duration_ms: 100, tokens_per_second: 50 },
  run_failed: { duration_ms: 900, error_class: 'error', llm_duration_ms: 100, tokens_per_second: 50 },
  plan_created: { steps: 3, version: 1 },
  plan_updated: { steps: 3, done: 1, in_progress: 1, blocked: 0, pending: 1, version: 2 },
  plan_blocked: { steps: 3, blocked: 1, version: 3 },
  plan_reassessment: { reason: 'repeated_check_failure', failure_batches: 3 },
  verification_started: { cycle: 1 },
  verification_completed: { cycle: 1, verdict: 'pass' },
  subagent_denied: { task_index: 0, class: 'destructive', reason: 'policy' },
  subagent_spawned: { task_id: 't', pid: 1, depth: 1, timeout_seconds: 1800, goal_sha256: 'a'.repeat(16) },
  subagent_completed: { task_id: 't', status: 'success', iterations: 2, duration_seconds: 3.5, tokens_used: 100, artifact_count: 0 },
  subagent_concurrency_wait: { task_index: 0, waited_ms: 5 },
  bg_started: { job_id: 'j', command_sha256: 'a'.repeat(64) },
  bg_exited: { job_id: 'j', status: 'exited', exit_code: 0 },
};
