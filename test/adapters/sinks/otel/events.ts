import type { WireData, WireEvent, WireType } from '../../../../ports/event.ts';

export const RUN = 'ab'.repeat(16);
export const START = Date.UTC(2026, 8, 30, 12);

interface Place {
  /** Milliseconds after {@link START}. */
  readonly at: number;
  readonly iteration?: number;
  readonly tool?: string;
  readonly run?: string;
  readonly session?: string;
}

/** One event as the stream has it. */
export function event<T extends WireType>(type: T, { at, iteration, tool, run = RUN, session }: Place, data: WireData[T]): WireEvent {
  return {
    schema: 'odek.event/v1',
    type,
    run_id: run,
    ...(session !== undefined && { session_id: session }),
    ...(iteration !== undefined && { iteration }),
    ...(tool !== undefined && { tool }),
    timestamp: new Date(START + at).toISOString(),
    data,
  } as WireEvent;
}

export const started = (run = RUN, at = 0): WireEvent =>
  event('run_started', { at, run, session: 's-1' }, { model: 'big-model', sandbox: false, max_iterations: 90 });

export const toolStarted = (tool: string, call_id: string, at: number): WireEvent =>
  event('tool_call_started', { at, iteration: 1, tool }, { call_id, args_sha256: 'a'.repeat(64), args_bytes: 2, args: '{"private":1}' });

export const toolDone = (tool: string, call_id: string, at: number, duration_ms: number): WireEvent =>
  event('tool_call_completed', { at, iteration: 1, tool }, { call_id, duration_ms, result_bytes: 812, artifact_count: 0 });

export const completed = (at: number, run = RUN): WireEvent =>
  event('run_completed', { at, run }, { duration_ms: at, input_tokens: 300, output_tokens: 60, llm_duration_ms: 900 });

/** A run of two iterations: a batch of two tools, one of which fails, then the answer. */
export const RUN_EVENTS: readonly WireEvent[] = [
  started(),
  toolStarted('read_file', 'c1', 410),
  toolStarted('github__search', 'c2', 412),
  toolDone('read_file', 'c1', 450, 38),
  event(
    'tool_call_failed',
    { at: 600, iteration: 1, tool: 'github__search' },
    { call_id: 'c2', duration_ms: 188, error_class: 'deadline_exceeded' },
  ),
  event('session_saved', { at: 601, iteration: 1 }, { message_count: 4 }),
  event(
    'iteration_completed',
    { at: 602, iteration: 1 },
    {
      input_tokens: 100,
      output_tokens: 20,
      tools_called: ['read_file', 'github__search'],
      call_duration_ms: 400,
      ttft_ms: 150,
      call_input_tokens: 100,
      call_output_tokens: 20,
    },
  ),
  event('context_trimmed', { at: 610, iteration: 2 }, { mode: 'proactive', dropped_groups: 2, truncated_results: 0 }),
  event(
    'iteration_completed',
    { at: 1_110, iteration: 2 },
    { input_tokens: 300, output_tokens: 60, tools_called: [], call_duration_ms: 500, call_input_tokens: 200, call_output_tokens: 40 },
  ),
  completed(1_112),
];
