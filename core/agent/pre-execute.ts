import { displayText } from '../approvals/display.ts';
import type { PreExecute, PreExecuteCall, PreExecuteVerdict } from './plugin-seams.ts';
import { type PreparedCall, prepareCall, type ReadyCall } from './prepare.ts';
import { createSemaphore } from './semaphore.ts';
import type { AgentDeps } from './settings.ts';

export interface PreExecuteScope {
  readonly deps: Pick<AgentDeps, 'tools' | 'validator' | 'approver' | 'preExecute' | 'redactor'>;
  readonly settings: { readonly workspace: string; readonly model: string };
  readonly signal: AbortSignal;
}

/** Calls of one response that listeners look at side by side. */
const AT_ONCE = 8;
const MAX_REASON_CHARS = 1000;
const MAX_NOTE_CHARS = 2000;

function denied(item: PreparedCall, by: string, reason: string): PreparedCall {
  return { call: item.call, outcome: 'denied', refusal: `error: operation denied by ${by}: ${reason}` };
}

/** A revised call is prepared like one of the model's: what does not fit the schema is refused. */
async function revised(
  ready: ReadyCall,
  by: string,
  input: Readonly<Record<string, unknown>>,
  scope: PreExecuteScope,
): Promise<PreparedCall> {
  const prepared = await prepareCall({ ...ready.call, arguments: JSON.stringify(input) }, 0, scope.deps);
  if (!('refusal' in prepared)) return prepared;
  const why = prepared.refusal.replace(/^error: /, '');
  return { ...prepared, refusal: `error: not executed: ${by} revised the arguments, and they are not valid any more: ${why}` };
}

async function admit(item: PreparedCall, listeners: PreExecute, scope: PreExecuteScope): Promise<PreparedCall> {
  const { deps, settings, signal } = scope;
  if ('refusal' in item || signal.aborted) return item;
  const call: PreExecuteCall = {
    name: item.call.name,
    callId: item.call.id,
    input: item.input,
    mode: deps.approver === undefined ? 'headless' : 'interactive',
    workspace: settings.workspace,
    model: settings.model,
  };
  let verdict: PreExecuteVerdict;
  try {
    verdict = await listeners(call, signal);
  } catch (error) {
    if (signal.aborted) return item;
    const told = error instanceof Error ? error.message : String(error);
    return denied(item, 'a pre-execute listener that failed', displayText(deps.redactor.text(told), MAX_REASON_CHARS));
  }
  if (verdict.kind === 'deny') return denied(item, verdict.by, displayText(deps.redactor.text(verdict.reason), MAX_REASON_CHARS));
  const { revision, ask, notes } = verdict;
  const final = revision === undefined ? item : await revised(item, revision.by, revision.input, scope);
  if ('refusal' in final) return final;
  const told = notes.map(({ by, text }) => `[note of ${by}: ${displayText(text, MAX_NOTE_CHARS)}]`);
  if (revision !== undefined)
    told.unshift(`[${revision.by} revised the arguments; executed with: ${displayText(final.call.arguments, MAX_NOTE_CHARS)}]`);
  return {
    ...final,
    ...(ask !== undefined && { ask: { by: ask.by, reason: displayText(ask.reason, MAX_REASON_CHARS) } }),
    ...(told.length > 0 && { notes: told }),
  };
}

/**
 * Has the listeners look at validated calls (DECISIONS 3: after validation, before classification). A
 * denied call ends as `denied`; a revised one is validated anew and goes on as if the model had asked
 * for that. Never rejects; what a listener does wrong denies the call.
 */
export async function admitCalls(items: readonly PreparedCall[], scope: PreExecuteScope): Promise<readonly PreparedCall[]> {
  const listeners = scope.deps.preExecute;
  if (listeners === undefined) return items;
  const places = createSemaphore(AT_ONCE);
  return Promise.all(
    items.map(async (item) => {
      const release = await places.acquire();
      try {
        return await admit(item, listeners, scope);
      } finally {
        release();
      }
    }),
  );
}
