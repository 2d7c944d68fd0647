import { hasCode } from '../../ports/errors.ts';
import type { ToolCall, ToolMessage } from '../../ports/message.ts';
import type { Gate } from '../approvals/gate.ts';
import { runCall } from './call.ts';
import { conflicts } from './conflicts.ts';
import { type PreparedCall, prepareCall } from './prepare.ts';
import { createSemaphore } from './semaphore.ts';
import type { RunState } from './state.ts';

function firstFailure(settled: readonly PromiseSettledResult<ToolMessage>[]): unknown {
  const failures = settled.filter((result) => result.status === 'rejected');
  // A broken store is told before the cancellation it may have caused.
  return (failures.find((failure) => !hasCode(failure.reason, 'cancelled')) ?? failures[0])?.reason;
}

/**
 * Executes the calls of one response: in parallel up to `maxToolParallel`, conflicting ones in the
 * order they were asked for. Returns one result a call, in call order. Rejects only after every call
 * has settled.
 */
export async function runBatch(state: RunState, gate: Gate, calls: readonly ToolCall[]): Promise<readonly ToolMessage[]> {
  const prepared: readonly PreparedCall[] = await Promise.all(calls.map((call, index) => prepareCall(call, index, state.deps)));
  const places = createSemaphore(state.settings.maxToolParallel);
  const ended: Promise<unknown>[] = [];
  let broken = false;

  const runInTurn = async (item: PreparedCall, index: number): Promise<ToolMessage> => {
    const before = prepared
      .slice(0, index)
      .flatMap((earlier, at) => (conflicts(earlier, item, state.settings.workspace) ? [ended[at]] : []));
    await Promise.all(before);
    const release = await places.acquire();
    try {
      if (broken) throw new Error('not executed: an earlier call of the batch could not be stored');
      return await runCall({ state, gate, prepared: item, index });
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
