import type { AgentDeps } from '../agent/settings.ts';
import type { EndedCall, Stage } from '../agent/stage.ts';
import { createRecoveryMonitor } from '../plan/recovery.ts';
import { createStallMonitor } from '../plan/stall.ts';
import type { PlanPosition } from '../plan/store.ts';

/** Where the plan of the run stands; `undefined` when there is none. */
export type PositionOf = () => PlanPosition | undefined;

interface Advice {
  readonly text: string;
  /** Of the `tool_recovery` signals. */
  readonly details: readonly string[];
}

/**
 * Advice after a batch, with or without a plan: for the same tool failing three times in a row, and
 * for calls repeated without a change. Advice only: nothing is refused. One a run.
 */
export function createRecoveryStage(deps: AgentDeps, positionOf: PositionOf = () => undefined): Stage {
  const failures = createRecoveryMonitor();
  const stalls = createStallMonitor(deps.hash);

  const failing = ({ call, outcome, content }: EndedCall): Advice[] => {
    // A name that the model made up is no text for a system message.
    const tool = deps.tools.get(call.name) === undefined ? 'that tool' : call.name;
    const hint = failures.observe({ tool, outcome, result: content });
    return hint === undefined ? [] : [{ text: hint.text, details: [hint.detail] }];
  };

  const repeating = (ended: readonly EndedCall[]): Advice[] => {
    const calls = ended.map(({ call, outcome, judgement, content }) => ({
      tool: call.name,
      arguments: call.arguments,
      outcome,
      result: content,
      ...(judgement !== undefined && { danger: judgement.class }),
    }));
    const hint = stalls.observe(calls, positionOf());
    return hint === undefined ? [] : [hint];
  };

  return {
    name: 'recovery',
    async afterBatch(state, ended) {
      const advice = [...ended.flatMap(failing), ...repeating(ended)];
      for (const { details } of advice) {
        for (const detail of details) state.emit({ type: 'signal', name: 'tool_recovery', detail, iteration: state.iteration });
      }
      return advice.map(({ text }) => text);
    },
  };
}
