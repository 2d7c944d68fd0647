import type { PreExecuteCall, PreExecuteVerdict } from '../../core/agent/plugin-seams.ts';
import type { HandleRow } from '../../core/extensions/handles.ts';
import { LIMITS } from '../../core/extensions/limits.ts';
import { combineAnswers, type Heard } from '../../core/extensions/verdict.ts';
import { CancelledError } from '../../ports/errors.ts';
import type { ExtensionHost } from '../../ports/extension-host.ts';
import { type Owned, originOf, type Shared } from './parts.ts';

/** Where a listener runs. */
export interface HookPlace {
  readonly owned: Owned;
  host(): ExtensionHost | string;
  enter(): () => void;
}

async function ask(row: HandleRow, place: HookPlace | undefined, call: PreExecuteCall, signal: AbortSignal): Promise<Heard> {
  if (place === undefined) return { by: row.owner.plugin_id, failed: 'its plugin is not active any more' };
  const by = originOf(place.owned.bundle);
  const host = place.host();
  if (typeof host === 'string') return { by, failed: host };
  const leave = place.enter();
  try {
    const pending = host.call(
      {
        method: 'hook/evaluate',
        deadlineMs: LIMITS.hooksMs,
        params: {
          handle: row.handle,
          event: 'tools/pre-execute',
          payload: {
            name: call.name,
            call_id: call.callId,
            input: call.input,
            mode: call.mode,
            workspace: call.workspace,
            model: call.model,
          },
        },
      },
      AbortSignal.any([signal, place.owned.ended.signal]),
    );
    const answer = await pending.result;
    // A listener of a plugin that was turned off meanwhile has not said yes.
    return place.owned.ended.signal.aborted ? { by, failed: 'its plugin was turned off' } : { by, answer };
  } catch (error) {
    // What withdrew the question says more than that it was withdrawn.
    const why: unknown = signal.aborted ? signal.reason : error;
    return { by, failed: why instanceof Error ? why.message : String(why) };
  } finally {
    leave();
  }
}

/**
 * Has every listener look at a call, all of them within five seconds. A plugin that has listeners and is
 * not running denies: a guard that can be shot down guards nothing.
 */
export async function evaluateHooks(
  call: PreExecuteCall,
  shared: Shared,
  placeOf: (row: HandleRow) => HookPlace | undefined,
  signal: AbortSignal,
): Promise<PreExecuteVerdict> {
  const rows = shared.handles.rows('hook');
  if (rows.length === 0 && shared.guards.size === 0) return { kind: 'go', notes: [] };
  const places = new Map(rows.map((row) => [row, placeOf(row)]));
  const running = new Set([...places.values()].map((place) => place?.owned.bundle.id));
  const down = [...shared.guards].find(([id]) => !running.has(id));
  if (down !== undefined) {
    const reason = `its pre-execute listener is not running, so no call passes; odek plugin disable ${down[1]} turns it off, odek plugin reload starts it again`;
    return { kind: 'deny', by: `extension:${down[1]}`, reason };
  }
  const late = new AbortController();
  const stop = shared.clock.after(LIMITS.hooksMs, () => late.abort(new Error(`not answered within ${LIMITS.hooksMs} ms`)));
  const both = AbortSignal.any([signal, late.signal]);
  try {
    const heard = await Promise.all(rows.map((row) => ask(row, places.get(row), call, both)));
    if (signal.aborted) throw new CancelledError();
    return combineAnswers(heard);
  } finally {
    stop();
  }
}
