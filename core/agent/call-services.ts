import { CancelledError } from '../../ports/errors.ts';
import type { CallKey, CoreCallRecord } from '../../ports/session.ts';
import type { Gate } from '../approvals/gate.ts';
import type { Judgement } from '../approvals/judge.ts';
import { coreCallRefusal, judgedForPlugin } from '../extensions/core-calls.ts';
import type { CallServices, CoreCallOutcome, CoreCallRequest } from './attached-services.ts';
import { decideJudged } from './decide.ts';
import { judgeReady, performCall } from './perform.ts';
import { admitCalls } from './pre-execute.ts';
import { prepareCall, type ReadyCall } from './prepare.ts';
import { sideCall } from './side-call.ts';
import type { RunState } from './state.ts';

export interface OpenCallServices {
  readonly services: CallServices;
  /** Cancels what is under way, waits for it, and gives what is to be recorded with the call. */
  end(): Promise<readonly CoreCallRecord[]>;
}

const OVER_BUDGET = 'error: not executed: the budget of this run is used up';
const CANCELLED = 'error: not executed: the call was cancelled';
const MAX_RECORDS = 64;
const MAX_TOOL_CHARS = 64;

interface Ran extends CoreCallOutcome {
  readonly judgement?: Judgement;
}

interface Parent {
  readonly state: RunState;
  readonly gate: Gate;
  readonly ready: ReadyCall;
  readonly key: CallKey;
}

async function perform({ state, gate, key }: Parent, ready: ReadyCall, request: CoreCallRequest, signal: AbortSignal): Promise<Ran> {
  const scope = { ...state, signal };
  const isFullAccess = state.settings.danger.action === 'allow';
  const judge = async (): Promise<Judgement> => judgedForPlugin(await judgeReady(scope, ready), ready, request.caller, isFullAccess);
  const judgement = await judge();
  const release = request.hold();
  try {
    const named = { id: ready.call.id, name: ready.call.name, key };
    const { decision } = await decideJudged(judgement, judge, (judged) => gate.decide(judged, named, signal));
    if (!decision.allowed) return { outcome: 'denied', text: `error: ${decision.text}`, judgement };
  } finally {
    release();
  }
  signal.throwIfAborted();
  if (state.budget.exceeded() || !state.budget.reserveToolCall()) return { outcome: 'skipped_budget', text: OVER_BUDGET, judgement };
  const { outcome, visible } = await performCall(scope, ready);
  return { outcome, text: visible, judgement };
}

async function run(parent: Parent, request: CoreCallRequest, id: string, signal: AbortSignal): Promise<Ran> {
  const { state } = parent;
  const { deps } = state;
  const tool = deps.tools.get(request.name);
  const refusal = coreCallRefusal(request.name, tool, tool !== undefined && deps.isForeign?.(tool.owner) === true);
  if (refusal !== undefined) return { outcome: 'refused', text: refusal };
  const call = { id, name: request.name, arguments: JSON.stringify(request.input ?? {}) };
  const [prepared] = await admitCalls([await prepareCall(call, 0, deps)], { deps, settings: state.settings, signal });
  if (prepared === undefined) return { outcome: 'failed', text: CANCELLED };
  if ('refusal' in prepared) return { outcome: prepared.outcome ?? 'failed', text: prepared.refusal };
  return perform(parent, prepared, request, signal);
}

/** Opens the services of one call. */
export function openCallServices(parent: Parent): OpenCallServices {
  const { state, ready } = parent;
  const ended = new AbortController();
  const pending = new Set<Promise<unknown>>();
  const records: CoreCallRecord[] = [];
  let asked = 0;

  const tracked = <T>(work: Promise<T>): Promise<T> => {
    const settled = work.catch(() => {});
    pending.add(settled);
    void settled.then(() => pending.delete(settled));
    return work;
  };

  const call = async (request: CoreCallRequest): Promise<CoreCallOutcome> => {
    const startedAt = state.deps.clock.monotonic();
    const signal = AbortSignal.any([state.signal, ended.signal, request.signal]);
    asked += 1;
    let ran: Ran;
    try {
      ran = signal.aborted ? { outcome: 'cancelled', text: CANCELLED } : await run(parent, request, `${ready.call.id}.${asked}`, signal);
    } catch (error) {
      if (!signal.aborted) throw error;
      ran = { outcome: 'cancelled', text: CANCELLED };
    }
    const { outcome, text, judgement } = ran;
    const durationMs = Math.round(state.deps.clock.monotonic() - startedAt);
    const name = state.deps.redactor.text(request.name.slice(0, MAX_TOOL_CHARS));
    if (records.length < MAX_RECORDS) {
      records.push({ tool: name, outcome, durationMs, by: request.caller.plugin, ...(judgement && { class: judgement.class }) });
    }
    return { outcome, text };
  };

  return {
    services: {
      call: (request) => tracked(call(request)),
      async complete(messages, maxTokens, outer) {
        const signal = AbortSignal.any([state.signal, ended.signal, outer]);
        if (signal.aborted) throw new CancelledError();
        return tracked(sideCall(state, { messages, maxTokens }, signal));
      },
    },
    async end() {
      ended.abort(new CancelledError('the call has ended'));
      await Promise.all(pending);
      return records;
    },
  };
}
