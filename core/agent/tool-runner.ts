import type { ArgsSummary } from '../../ports/event.ts';
import type { ToolCall } from '../../ports/message.ts';
import { createGate, type Gate } from '../approvals/gate.ts';
import { conflicts } from './conflicts.ts';
import { decideJudged } from './decide.ts';
import { type Ending, judgeReady, ownEnding, performCall } from './perform.ts';
import { type PreparedCall, prepareCall, type ReadyCall } from './prepare.ts';
import type { CallScope } from './scope.ts';
import { createSemaphore } from './semaphore.ts';
import type { AgentDeps, AgentSettings } from './settings.ts';

/** Live objects a runner calls tools with: those of an agent, without a model. */
export type ToolRunnerDeps = CallScope['deps'] & Pick<AgentDeps, 'tools' | 'validator' | 'approver'>;

export interface ToolRunnerSettings extends Pick<AgentSettings, 'approvalTimeoutMs' | 'maxToolParallel'> {
  readonly scope: CallScope['settings'];
  /** Names the calls of this runner where a tool asks for its run. */
  readonly runId: string;
  /** Names its ledger of read files, and its approvals. */
  readonly sessionId: string;
  /** Calls that may be under way, those that wait included. */
  readonly maxPending: number;
}

/** How a call ended. */
export interface RanCall extends Pick<Ending, 'outcome' | 'content' | 'visible' | 'durationMs'> {
  /** What the call touched, as judged; empty for a call that was refused before. Not redacted. */
  readonly summary: ArgsSummary;
}

/** Calls tools outside a run: nothing is journalled, no budget is spent. */
export interface ToolRunner {
  /**
   * Validates, classifies, approves, executes, redacts, bounds and wraps, as the loop does. Calls run in
   * parallel up to `maxToolParallel`, those that touch the same things in the order they came. Never
   * rejects: a call that is refused, denied, cancelled or failed is an outcome.
   */
  run(call: ToolCall, signal: AbortSignal): Promise<RanCall>;
}

interface Pending {
  readonly prepared: PreparedCall;
  readonly ended: Promise<unknown>;
}

const CANCELLED = 'error: not executed: the call was cancelled before it was started';

function ran(ending: Ending, summary: ArgsSummary = {}): RanCall {
  const { outcome, content, visible, durationMs } = ending;
  return { outcome, content, visible, durationMs, summary };
}

/** Resolves when `work` settles or `signal` fires, whichever is first. */
async function settledOr(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const fired = Promise.withResolvers<void>();
  const onAbort = (): void => fired.resolve();
  signal.addEventListener('abort', onAbort, { once: true });
  await Promise.race([work.catch(() => {}), fired.promise]);
  signal.removeEventListener('abort', onAbort);
}

/** Makes a runner. Its gate remembers which classes a person trusts for as long as the runner is used. */
export function createToolRunner(deps: ToolRunnerDeps, settings: ToolRunnerSettings): ToolRunner {
  const { scope: scopeSettings, runId, sessionId, maxPending } = settings;
  const gate: Gate = createGate({
    ...(deps.approver && { approver: deps.approver }),
    policy: scopeSettings.danger,
    ids: deps.ids,
    timeoutMs: settings.approvalTimeoutMs,
    sessionId,
    clock: deps.clock,
  });
  const places = createSemaphore(settings.maxToolParallel);
  const pending = new Set<Pending>();
  let taken = 0;
  let preparing: Promise<unknown> = Promise.resolve();

  /** One after the other, so that calls conflict in the order in which they came. */
  const prepare = (call: ToolCall): Promise<PreparedCall> => {
    const prepared = preparing.then(() => prepareCall(call, 0, deps));
    preparing = prepared.catch(() => {});
    return prepared;
  };

  const decideAndPerform = async (scope: CallScope, ready: ReadyCall): Promise<RanCall> => {
    const judgement = await judgeReady(scope, ready);
    const { id, name } = ready.call;
    try {
      const { decision } = await decideJudged(
        judgement,
        () => judgeReady(scope, ready),
        (judged) => gate.decide(judged, { id, name }, scope.signal),
      );
      if (!decision.allowed) return ran(ownEnding(scope, name, 'denied', `error: ${decision.text}`), judgement.summary);
    } catch {
      return ran(ownEnding(scope, name, 'cancelled', CANCELLED), judgement.summary);
    }
    if (scope.signal.aborted) return ran(ownEnding(scope, name, 'cancelled', CANCELLED), judgement.summary);
    return ran(await performCall(scope, ready), judgement.summary);
  };

  const inTurn = async (scope: CallScope, ready: ReadyCall, before: readonly Pending[]): Promise<RanCall> => {
    await settledOr(Promise.all(before.map(({ ended }) => ended)), scope.signal);
    const place = places.acquire();
    await settledOr(place, scope.signal);
    if (scope.signal.aborted) {
      void place.then((release) => release());
      return ran(ownEnding(scope, ready.call.name, 'cancelled', CANCELLED));
    }
    const release = await place;
    try {
      return await decideAndPerform(scope, ready);
    } finally {
      release();
    }
  };

  const runPrepared = async (scope: CallScope, prepared: PreparedCall): Promise<RanCall> => {
    if ('refusal' in prepared) return ran(ownEnding(scope, prepared.call.name, prepared.outcome ?? 'failed', prepared.refusal));
    const before = [...pending].filter((earlier) => conflicts(earlier.prepared, prepared, scopeSettings.workspace));
    const running = inTurn(scope, prepared, before);
    const entry: Pending = { prepared, ended: running.catch(() => {}) };
    pending.add(entry);
    try {
      return await running;
    } finally {
      pending.delete(entry);
    }
  };

  return {
    async run(call, signal) {
      const scope: CallScope = {
        deps,
        settings: scopeSettings,
        runId,
        sessionId,
        signal,
        iteration: 0,
        hidesPanics: true,
        emit: () => {},
      };
      if (taken >= maxPending) {
        const text = `error: not executed: ${taken} calls are under way and the limit is ${maxPending}; ask again when one has ended`;
        return ran(ownEnding(scope, call.name, 'failed', text));
      }
      taken += 1;
      try {
        return await runPrepared(scope, await prepare(call));
      } finally {
        taken -= 1;
      }
    },
  };
}
