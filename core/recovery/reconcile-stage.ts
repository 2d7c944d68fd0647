import type { ToolCall } from '../../ports/message.ts';
import { judgeReady } from '../agent/perform.ts';
import { prepareCall } from '../agent/prepare.ts';
import type { AgentDeps } from '../agent/settings.ts';
import type { Stage } from '../agent/stage.ts';
import type { RunState } from '../agent/state.ts';
import { denialsIn } from './denials.ts';
import { type ActionLedger, createLedger } from './ledger.ts';

const MAX_NAMED = 5;
const REF_BYTES = 4;

/** What is put behind an answer that denies what was done. `labels` are the actions, at least one. */
export function consistencyNotice(labels: readonly string[], ref: string): string {
  const more = labels.length > MAX_NAMED ? `, and ${labels.length - MAX_NAMED} more` : '';
  return `\n\n[odek consistency notice: the answer above denies effects, but these actions completed in this run: ${labels.slice(0, MAX_NAMED).join(', ')}${more}.] [ref ${ref}]`;
}

/** The calls of an interrupted turn that is being taken up again, with how they ended. */
async function takeUp(state: RunState, ledger: ActionLedger): Promise<void> {
  const { messages } = state.transcript;
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  const calls = new Map<string, ToolCall>();
  for (const message of turn) {
    if (message.role === 'assistant') for (const call of message.toolCalls ?? []) calls.set(call.id, call);
    const call = message.role === 'tool' ? calls.get(message.callId) : undefined;
    if (message.role !== 'tool' || call === undefined) continue;
    const prepared = await prepareCall(call, 0, state.deps);
    const judgement = 'tool' in prepared ? await judgeReady(state, prepared) : undefined;
    ledger.record({ prepared, judgement, outcome: message.outcome });
  }
}

/**
 * Compares the answer with what the run did: an answer that denies completed effects is shipped with
 * a notice that names them. The answer itself stays as the model wrote it. One a run.
 */
export function createReconcileStage(deps: AgentDeps): Stage {
  const ledger = createLedger(deps.redactor.text);
  return {
    name: 'reconcile',
    begin: (state) => takeUp(state, ledger),
    afterCall(_state, ended) {
      ledger.record(ended);
      return [];
    },
    async onAnswer(state, _thought, text) {
      const labels = ledger.against(denialsIn(text));
      if (labels.length === 0) return undefined;
      const ref = deps.ids.hex(REF_BYTES);
      const detail = `ref ${ref}: the answer denies effects of ${labels.length} completed action${labels.length === 1 ? '' : 's'}`;
      state.emit({ type: 'signal', name: 'reply_ledger_mismatch', detail, iteration: state.iteration });
      return { kind: 'answer', text: text + consistencyNotice(labels, ref) };
    },
  };
}
