import { createHash } from 'node:crypto';
import type { WireEvent } from '../../../ports/event.ts';
import type { Attributes, Measurement, Span, SpanEvent } from './model.ts';
import { ATTRIBUTE, isMcpTool, METRIC, OPERATION } from './names.ts';

/** What one event led to. */
export interface Traced {
  readonly spans: readonly Span[];
  readonly measurements: readonly Measurement[];
}

export const NOTHING: Traced = { spans: [], measurements: [] };

/** A span that has not ended. */
interface Draft {
  readonly spanId: string;
  readonly name: string;
  readonly kind: Span['kind'];
  readonly start: number;
  readonly attributes: Attributes;
}

/** A run whose end is not known yet. */
export interface RunTrace {
  readonly traceId: string;
  readonly root: Draft;
  /** On every span and measurement. */
  readonly common: Attributes;
  readonly model: string;
  readonly events: SpanEvent[];
  droppedEvents: number;
  /** Started and not ended, by call or task. */
  readonly open: Map<string, Draft>;
  /** Where the next model call begins, as far as events tell. */
  stepStart: number;
  lastSeen: number;
}

type Of<T extends WireEvent['type']> = Extract<WireEvent, { type: T }>;

interface Ending {
  readonly attributes?: Attributes;
  readonly failed?: boolean;
}

const MAX_OPEN = 256;
const MAX_EVENTS = 128;
const MAX_TEXT = 256;

function digest(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}

/** A run's id is a trace id already; anything else is made one. */
function traceIdOf(run: string): string {
  return /^[0-9a-f]{32}$/.test(run) && !/^0+$/.test(run) ? run : digest(run, 32);
}

/** Milliseconds since the epoch; 0 for a time that is none. */
export function timeOf({ timestamp }: WireEvent): number {
  const time = Date.parse(timestamp);
  return Number.isFinite(time) ? time : 0;
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}

/** The plain fields of an event's data, under `odek.`; what is nested stays out. */
function plainFields(data: unknown): Attributes {
  const fields = Object.entries((data ?? {}) as Readonly<Record<string, unknown>>).filter(([, value]) => isPlain(value));
  return Object.fromEntries(
    fields.map(([name, value]) => [`odek.${name}`, typeof value === 'string' ? value.slice(0, MAX_TEXT) : (value as number)]),
  );
}

function numberOr(value: unknown, fallback: number): number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : fallback;
}

function errorType(failed: boolean, value: unknown): Attributes {
  return failed ? { [ATTRIBUTE.error]: String(value).slice(0, MAX_TEXT) } : {};
}

function finish(run: RunTrace, draft: Draft, end: number, { attributes, failed }: Ending): Span {
  const isRoot = draft === run.root;
  return {
    ...draft,
    traceId: run.traceId,
    ...(!isRoot && { parentId: run.root.spanId }),
    end: Math.max(draft.start, end),
    attributes: { ...run.common, ...draft.attributes, ...attributes },
    events: isRoot ? run.events : [],
    droppedEvents: isRoot ? run.droppedEvents : 0,
    status: failed === true ? 'error' : 'unset',
  };
}

function duration(run: RunTrace, operation: string, ms: number, more: Attributes): Measurement {
  const attributes = { ...run.common, [ATTRIBUTE.operation]: operation, [ATTRIBUTE.model]: run.model, ...more };
  return { metric: METRIC.duration, value: ms / 1_000, attributes };
}

function tokens(run: RunTrace, type: 'input' | 'output', value: number): Measurement[] {
  if (value === 0) return [];
  const names = { [ATTRIBUTE.operation]: OPERATION.chat, [ATTRIBUTE.model]: run.model, [ATTRIBUTE.tokenType]: type };
  return [{ metric: METRIC.tokens, value, attributes: { ...run.common, ...names } }];
}

/** Begins with whatever event is the first that was seen. */
export function beginRun(event: WireEvent, common: Attributes): RunTrace {
  const at = timeOf(event);
  const model = event.type === 'run_started' ? String(event.data.model) : 'unknown';
  const attributes = {
    [ATTRIBUTE.operation]: OPERATION.agent,
    [ATTRIBUTE.agent]: 'odek',
    [ATTRIBUTE.run]: event.run_id,
    ...(event.session_id !== undefined && { [ATTRIBUTE.conversation]: event.session_id }),
    ...(event.type === 'run_started' && { [ATTRIBUTE.model]: model }),
  };
  const spanId = digest(`${event.run_id}/root`, 16);
  return {
    traceId: traceIdOf(event.run_id),
    root: { spanId, name: `${OPERATION.agent} odek`, kind: 'internal', start: at, attributes },
    common,
    model,
    events: [],
    droppedEvents: 0,
    open: new Map(),
    stepStart: at,
    lastSeen: at,
  };
}

/** Ends what the run left open, then its root. */
function endRun(run: RunTrace, end: number, ending: Ending): Span[] {
  const left = [...run.open.values()].map((draft) => finish(run, draft, end, { attributes: { [ATTRIBUTE.interrupted]: true } }));
  return [...left, finish(run, run.root, end, ending)];
}

/** The spans of a run that nobody will end, as they are at `now`. */
export function interruptRun(run: RunTrace, now: number): Span[] {
  return endRun(run, Math.max(now, run.lastSeen), { attributes: { [ATTRIBUTE.interrupted]: true } });
}

/** The model call of an iteration. The stream tells its length; it began when the step before was over. */
function chat(run: RunTrace, event: Of<'iteration_completed'>): Traced {
  const { call_duration_ms, ttft_ms, call_input_tokens, call_output_tokens } = event.data;
  const ms = numberOr(call_duration_ms, 0);
  const input = numberOr(call_input_tokens, 0);
  const output = numberOr(call_output_tokens, 0);
  const attributes = {
    [ATTRIBUTE.operation]: OPERATION.chat,
    [ATTRIBUTE.model]: run.model,
    ...(input > 0 && { [ATTRIBUTE.inputTokens]: input }),
    ...(output > 0 && { [ATTRIBUTE.outputTokens]: output }),
    ...(isPlain(ttft_ms) && { [ATTRIBUTE.timeToFirstToken]: numberOr(ttft_ms, 0) / 1_000 }),
    ...(event.iteration !== undefined && { [ATTRIBUTE.iteration]: event.iteration }),
  };
  const start = run.stepStart;
  run.stepStart = timeOf(event);
  const spanId = digest(`${event.run_id}/chat/${event.iteration}/${run.stepStart}`, 16);
  const span = finish(run, { spanId, name: `${OPERATION.chat} ${run.model}`, kind: 'client', start, attributes }, start + ms, {});
  const timed = ms > 0 ? [duration(run, OPERATION.chat, ms, {})] : [];
  return { spans: [span], measurements: [...timed, ...tokens(run, 'input', input), ...tokens(run, 'output', output)] };
}

interface Opening {
  readonly key: string;
  readonly name: string;
  readonly attributes: Attributes;
}

function openSpan(run: RunTrace, event: WireEvent, { key, name, attributes }: Opening): Traced {
  if (run.open.size >= MAX_OPEN) return NOTHING;
  const start = timeOf(event);
  const spanId = digest(`${event.run_id}/${key}/${event.iteration}/${start}/${run.open.size}`, 16);
  run.open.set(key, { spanId, name, kind: 'internal', start, attributes });
  return NOTHING;
}

function takeOpen(run: RunTrace, key: string): Draft | undefined {
  const draft = run.open.get(key);
  run.open.delete(key);
  return draft;
}

function toolStarted(run: RunTrace, event: Of<'tool_call_started'>): Traced {
  const tool = event.tool ?? 'unknown';
  const attributes = {
    [ATTRIBUTE.operation]: OPERATION.tool,
    [ATTRIBUTE.tool]: tool,
    [ATTRIBUTE.toolType]: 'function',
    [ATTRIBUTE.toolCall]: String(event.data.call_id),
    ...(isMcpTool(tool) && { [ATTRIBUTE.mcpMethod]: 'tools/call' }),
    ...(event.iteration !== undefined && { [ATTRIBUTE.iteration]: event.iteration }),
  };
  return openSpan(run, event, { key: `tool/${event.data.call_id}`, name: `${OPERATION.tool} ${tool}`, attributes });
}

function toolEnded(run: RunTrace, event: Of<'tool_call_completed' | 'tool_call_failed'>): Traced {
  const draft = takeOpen(run, `tool/${event.data.call_id}`);
  if (draft === undefined) return NOTHING;
  const failed = event.type === 'tool_call_failed';
  const error = failed ? errorType(true, event.data.error_class) : {};
  const bytes = failed ? {} : { [ATTRIBUTE.resultBytes]: numberOr(event.data.result_bytes, 0) };
  const span = finish(run, draft, timeOf(event), { attributes: { ...error, ...bytes }, failed });
  const ms = numberOr(event.data.duration_ms, span.end - span.start);
  return { spans: [span], measurements: [duration(run, OPERATION.tool, ms, { [ATTRIBUTE.tool]: event.tool ?? 'unknown', ...error })] };
}

function subagentStarted(run: RunTrace, event: Of<'subagent_spawned'>): Traced {
  const attributes = {
    [ATTRIBUTE.operation]: OPERATION.agent,
    [ATTRIBUTE.agent]: 'subagent',
    [ATTRIBUTE.task]: String(event.data.task_id),
  };
  return openSpan(run, event, { key: `task/${event.data.task_id}`, name: `${OPERATION.agent} subagent`, attributes });
}

function subagentEnded(run: RunTrace, event: Of<'subagent_completed'>): Traced {
  const draft = takeOpen(run, `task/${event.data.task_id}`);
  if (draft === undefined) return NOTHING;
  const failed = event.data.status !== 'success';
  const attributes = { ...plainFields(event.data), ...errorType(failed, event.data.status) };
  return { spans: [finish(run, draft, timeOf(event), { attributes, failed })], measurements: [] };
}

function runEnded(run: RunTrace, event: Of<'run_completed' | 'run_failed'>): Traced {
  const failed = event.type === 'run_failed';
  const error = failed ? errorType(true, event.data.error_class) : {};
  const sums = failed
    ? {}
    : { [ATTRIBUTE.inputTokens]: numberOr(event.data.input_tokens, 0), [ATTRIBUTE.outputTokens]: numberOr(event.data.output_tokens, 0) };
  const ms = numberOr(event.data.duration_ms, timeOf(event) - run.root.start);
  const spans = endRun(run, timeOf(event), { attributes: { ...sums, ...error }, failed });
  return { spans, measurements: [duration(run, OPERATION.agent, ms, error)] };
}

/** Everything without a span of its own is a line on the root span. */
function noted(run: RunTrace, event: WireEvent): Traced {
  if (run.events.length >= MAX_EVENTS) run.droppedEvents += 1;
  else run.events.push({ name: String(event.type), at: timeOf(event), attributes: plainFields(event.data) });
  return NOTHING;
}

/** Takes one event of the run. */
export function follow(run: RunTrace, event: WireEvent): Traced {
  switch (event.type) {
    case 'run_started':
    // Once a step: the iterations tell as much.
    case 'session_saved':
      return NOTHING;
    case 'iteration_completed':
      return chat(run, event);
    case 'tool_call_started':
      return toolStarted(run, event);
    case 'tool_call_completed':
    case 'tool_call_failed':
      return toolEnded(run, event);
    case 'subagent_spawned':
      return subagentStarted(run, event);
    case 'subagent_completed':
      return subagentEnded(run, event);
    case 'run_completed':
    case 'run_failed':
      return runEnded(run, event);
    default:
      return noted(run, event);
  }
}
