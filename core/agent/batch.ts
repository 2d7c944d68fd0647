import { hasCode } from '../../ports/errors.ts';
import type { ToolCall } from '../../ports/message.ts';
import type { Gate } from '../approvals/gate.ts';
import { callKey } from '../transcript/fold.ts';
import { runCall, type StoredResult } from './call.ts';
import { conflicts } from './conflicts.ts';
import { judgeReady } from './perform.ts';
import { admitCalls } from './pre-execute.ts';
import { type PreparedCall, prepareCall } from './prepare.ts';
import { createSemaphore } from './semaphore.ts';
import type { RunState } from './state.ts';

function firstFailure(settled: readonly PromiseSettledResult<StoredResult>[]): unknown {
  const failures = settled.filter((result) => result.status === 'rejected');
  // A broken store is told before the cancellation it may have caused.
  return (failures.find((failure) => !hasCode(failure.reason, 'cancelled')) ?? failures[0])?.reason;
}

/**
 * Has a person decide about all calls of the response that need one, and gives the gate for them. A run
 * that is cancelled meanwhile ends every call by itself.
 */
async function approveTogether(state: RunState, gate: Gate, prepared: readonly PreparedCall[]): Promise<Gate> {
  const { runId, iteration, signal } = state;
  if (state.deps.approver === undefined || prepared.length < 2 || signal.aborted) return gate;
  const judged = prepared.map(async (item, index) => {
    if ('refusal' in item) return [];
    const { id, name } = item.call;
    return [{ call: { id, name, key: callKey(runId, iteration, index) }, judgement: await judgeReady(state, item) }];
  });
  try {
    return await gate.together((await Promise.all(judged)).flat(), signal);
  } catch (error) {
    if (signal.aborted) return gate;
    throw error;
  }
}

/**
 * Executes the calls of one response: in parallel up to `maxToolParallel`, conflicting ones in the
 * order they were asked for. Returns one result a call, in call order. Rejects only after every call
 * has settled.
 */
export async function runBatch(state: RunState, gate: Gate, calls: readonly ToolCall[]): Promise<readonly StoredResult[]> {
  const valid = await Promise.all(calls.map((call, index) => prepareCall(call, index, state.deps)));
  // What listeners revise is what plans, approvals and the journal are about.
  const prepared: readonly PreparedCall[] = await admitCalls(valid, state);
  for (const stage of state.stages) stage.beforeBatch?.(state, prepared);
  const barrier = prepared.map((item) => state.stages.some((stage) => stage.isBarrier?.(item) === true));
  const mustWait = (at: number, index: number, earlier: PreparedCall, later: PreparedCall): boolean =>
    barrier[at] === true ||
    barrier[index] === true ||
    state.stages.some((stage) => stage.mustFollow?.(later, earlier) === true) ||
    conflicts(earlier, later, state.settings.workspace);
  const batchGate = await approveTogether(state, gate, prepared);
  const places = createSemaphore(state.settings.maxToolParallel);
  const ended: Promise<unknown>[] = [];
  let broken = false;

  const runInTurn = async (item: PreparedCall, index: number): Promise<StoredResult> => {
    const before = prepared.slice(0, index).flatMap((earlier, at) => (mustWait(at, index, earlier, item) ? [ended[at]] : []));
    await Promise.all(before);
    const release = await places.acquire();
    try {
      if (broken) throw new Error('not executed: an earlier call of the batch could not be stored');
      return await runCall({ state, gate: batchGate, prepared: item, index });
    } catch (error) {
      broken = true;
      throw error;
    } finally {
      release();
    }
  };

  const running = prepared.map((item, index) => {
    const result = runInTurn(item, index);
    ended[index] = result.catch(() => {});
    return result;
  });
  const settled = await Promise.allSettled(running);
  const failure = firstFailure(settled);
  if (failure !== undefined) throw failure;
  return settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
}
