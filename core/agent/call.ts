import type { ArgsSummary } from '../../ports/event.ts';
import type { ToolMessage, ToolOutcome } from '../../ports/message.ts';
import type { CallKey, CoreCallRecord, JournalRecord } from '../../ports/session.ts';
import type { Gate } from '../approvals/gate.ts';
import type { Judgement } from '../approvals/judge.ts';
import { utf8Length } from '../results/utf8.ts';
import { callKey } from '../transcript/fold.ts';
import { openCallServices } from './call-services.ts';
import { decideJudged } from './decide.ts';
import { type Ending, judgeReady, ownEnding, performCall } from './perform.ts';
import type { PreparedCall, ReadyCall } from './prepare.ts';
import type { EndedCall } from './stage.ts';
import type { RunState } from './state.ts';

/** One call of a batch on its way from request to stored result. */
export interface CallTask {
  readonly state: RunState;
  readonly gate: Gate;
  readonly prepared: PreparedCall;
  readonly index: number;
}

function redactedSummary(state: RunState, summary: ArgsSummary): ArgsSummary {
  const { redactor } = state.deps;
  const path = summary.path;
  return {
    ...summary,
    ...(summary.argv0 !== undefined && { argv0: redactor.text(summary.argv0) }),
    ...(summary.host !== undefined && { host: redactor.text(summary.host) }),
    ...(path !== undefined && { path: typeof path === 'string' ? redactor.text(path) : path.map((each) => redactor.text(each)) }),
  };
}

function emitStarted({ state, prepared }: CallTask, summary: ArgsSummary): void {
  const { call } = prepared;
  state.emit({
    type: 'tool_call_started',
    iteration: state.iteration,
    tool: call.name,
    args: state.deps.redactor.json(call.arguments),
    data: {
      call_id: call.id,
      args_sha256: state.deps.hash.sha256(call.arguments),
      args_bytes: utf8Length(call.arguments),
      ...(Object.keys(summary).length > 0 && { args_summary: redactedSummary(state, summary) }),
    },
  });
}

function emitEnded({ state, prepared }: CallTask, ending: Ending): void {
  const { call } = prepared;
  const { iteration } = state;
  const duration_ms = Math.round(ending.durationMs);
  state.emit({ type: 'tool_result', iteration, tool: call.name, call_id: call.id, outcome: ending.outcome, content: ending.visible });
  if (ending.outcome === 'completed') {
    const data = { call_id: call.id, duration_ms, result_bytes: ending.bytes, artifact_count: ending.artifactCount ?? 0 };
    state.emit({ type: 'tool_call_completed', iteration, tool: call.name, data });
  } else {
    state.emit({
      type: 'tool_call_failed',
      iteration,
      tool: call.name,
      data: { call_id: call.id, duration_ms, error_class: ending.errorClass },
    });
  }
}

/** A result in the transcript's form, with the journal record it was stored as. */
export interface StoredResult {
  readonly message: ToolMessage;
  readonly seq: number;
  readonly ended: EndedCall;
}

/** Lets the stages look at what ended, then stores the result and what follows from it in one commit. */
async function store(
  task: CallTask,
  key: CallKey,
  ending: Ending,
  judgement: Judgement | undefined,
  coreCalls: readonly CoreCallRecord[] = [],
): Promise<StoredResult> {
  const { state, prepared } = task;
  const { call } = prepared;
  const { outcome, content, errorClass } = ending;
  const message: ToolMessage = { role: 'tool', callId: call.id, name: call.name, content, outcome };
  const ended: EndedCall = {
    key,
    call,
    prepared,
    judgement,
    outcome,
    errorClass,
    content: ending.visible,
    ...(ending.source !== undefined && { source: ending.source }),
  };
  const following = state.stages.flatMap((stage) => stage.afterCall?.(state, ended) ?? []);
  const recorded = coreCalls.length > 0 ? { coreCalls } : {};
  const finished: JournalRecord = { kind: 'tool_finished', key, message, durationMs: Math.round(ending.durationMs), ...recorded };
  const seq = await state.journal.append([finished, ...following]);
  for (const stage of state.stages) stage.afterStored?.(state, ended);
  return { message, seq, ended };
}

/** Ends a call that never started. Both of its events are told, so that every call pairs. */
async function endUnstarted(
  task: CallTask,
  key: CallKey,
  refusal: { readonly outcome: ToolOutcome; readonly text: string },
  judgement?: Judgement,
): Promise<StoredResult> {
  const { state, prepared } = task;
  const ending = ownEnding(state, prepared.call.name, refusal.outcome, refusal.text);
  const stored = await store(task, key, ending, judgement);
  emitStarted(task, judgement?.summary ?? {});
  emitEnded(task, ending);
  return stored;
}

type Authorisation = { readonly go: true } | { readonly go: false; readonly outcome: ToolOutcome; readonly text: string };

const CANCELLED = {
  go: false,
  outcome: 'cancelled',
  text: 'error: not executed: the run was cancelled before this call was started',
} as const;
const OVER_BUDGET = {
  go: false,
  outcome: 'skipped_budget',
  text: 'error: not executed: the budget of this run is used up. Answer with what you have.',
} as const;

/** Approval, then budget. A denied call costs no budget. */
async function authorise(task: CallTask, ready: ReadyCall, judgement: Judgement, key: CallKey): Promise<Authorisation> {
  const { state, gate } = task;
  const named = { id: ready.call.id, name: ready.call.name, key };
  try {
    const { decision } = await decideJudged(
      judgement,
      () => judgeReady(state, ready),
      (judged) => gate.decide(judged, named, state.signal),
    );
    if (!decision.allowed) return { go: false, outcome: 'denied', text: `error: ${decision.text}` };
  } catch (error) {
    if (state.signal.aborted) return CANCELLED;
    throw error;
  }
  if (state.signal.aborted) return CANCELLED;
  if (state.budget.exceeded() || !state.budget.reserveToolCall()) return OVER_BUDGET;
  return { go: true };
}

/** A third party's tool may ask core for something while it runs; when it has ended, so has all of that. */
async function performWithServices({ state, gate }: CallTask, ready: ReadyCall, key: CallKey) {
  if (state.deps.isForeign?.(ready.tool.owner) !== true) return { ending: await performCall(state, ready) };
  const { services, end } = openCallServices({ state, gate, ready, key });
  const ending = await performCall(state, ready, services);
  return { ending, coreCalls: await end() };
}

/**
 * One call in the order of DECISIONS 3: classify, approve, reserve budget, journal, execute; then
 * DECISIONS 2: shape, store, tell. Rejects only when the journal does.
 */
export async function runCall(task: CallTask): Promise<StoredResult> {
  const { state, prepared, index } = task;
  const key = callKey(state.runId, state.iteration, index);
  if ('refusal' in prepared) return endUnstarted(task, key, { outcome: prepared.outcome ?? 'failed', text: prepared.refusal });
  if (state.signal.aborted) return endUnstarted(task, key, CANCELLED);
  const judgement = await judgeReady(state, prepared);
  const authorised = await authorise(task, prepared, judgement, key);
  if (!authorised.go) return endUnstarted(task, key, authorised, judgement);
  const { call } = prepared;
  await state.journal.append([
    { kind: 'tool_started', key, callId: call.id, name: call.name, arguments: state.deps.redactor.json(call.arguments) },
  ]);
  emitStarted(task, judgement.summary);
  const { ending, coreCalls } = await performWithServices(task, prepared, key);
  const stored = await store(task, key, ending, judgement, coreCalls);
  emitEnded(task, ending);
  return stored;
}
