/** The plan in the loop: taken up at the start, kept in its slot, told as events, steering the model. */
import type { PlanView } from '../../ports/plan.ts';
import type { CallKey, JournalRecord } from '../../ports/session.ts';
import type { PreparedCall } from '../agent/prepare.ts';
import type { AgentDeps } from '../agent/settings.ts';
import type { EndedCall, Stage } from '../agent/stage.ts';
import type { RunState } from '../agent/state.ts';
import { wrapUntrusted } from '../untrusted/wrapper.ts';
import { completionNotice, createCompletionNudge } from './completion.ts';
import type { PlanDesk } from './desk.ts';
import { type PlanChange, planEvents } from './events.ts';
import type { FinishedCall } from './evidence.ts';
import { planViewOf } from './extract.ts';
import { BLOCKED_STREAK_HINT, reassessmentHint } from './hints.ts';
import { type BatchCall, createReassessmentMonitor } from './reassess.ts';
import { REMAINING_SOURCE, remainingPairs, remainingSteps } from './remaining.ts';
import { resumePlan } from './resume.ts';
import { hasChecks } from './state.ts';
import type { PlanPosition, PlanStore } from './store.ts';

const SLOT = 'plan';
const PLAN_TOOL = 'plan';
const FAILURE_BATCHES = 3;

export interface PlanStage extends Stage {
  /** Where work stands, for hints that point at it. */
  position(): PlanPosition;
}

/** Changes that are stored together with one call's result, and the plan as it was then. */
interface Untold {
  readonly changes: readonly PlanChange[];
  readonly view: PlanView;
}

/** What was decided for a batch before any of its calls ran. */
interface Batch {
  readonly epoch: number;
  readonly checks: ReadonlySet<PreparedCall>;
}

/** Arguments as a plan holds them: masked, and `{}` where a model left them out. */
function argumentsOf(deps: AgentDeps, store: PlanStore, text: string): string {
  if (text.trim() === '') return '{}';
  return hasChecks(store.state().steps) ? deps.redactor.json(text) : text;
}

function isPlanCall({ call }: PreparedCall): boolean {
  return call.name === PLAN_TOOL;
}

function finishedCall(deps: AgentDeps, store: PlanStore, { call, prepared, outcome }: EndedCall): FinishedCall {
  // What a third party declares is shown, never believed.
  const believed = 'tool' in prepared && deps.isFirstParty?.(prepared.tool.owner) === true ? prepared.effects : undefined;
  return {
    tool: call.name,
    arguments: argumentsOf(deps, store, call.arguments),
    callId: call.id,
    outcome,
    ...(believed !== undefined && { effects: believed }),
  };
}

/** The plan of one run. One object a run; `end` gives its place at the desk back. */
export function createPlanStage(deps: AgentDeps, desk: PlanDesk, run: string): PlanStage {
  const changes: PlanChange[] = [];
  const untold = new Map<CallKey, Untold>();
  const store = desk.open(run, (change) => changes.push(change));
  const nudge = createCompletionNudge();
  const reassessment = createReassessmentMonitor(deps.hash);
  let batch: Batch = { epoch: store.epoch(), checks: new Set() };
  let streak = false;
  let held: string | undefined;

  const wrap = (source: string, body: string): string => wrapUntrusted(body, source, deps.ids.hex(8));

  /** Puts the plan into its slot; the record is to be stored with what changed it. */
  const refresh = ({ transcript }: RunState): readonly JournalRecord[] => {
    const content = store.message(wrap)?.content;
    if (content === transcript.slot(SLOT)) return [];
    transcript.setSlot(SLOT, content);
    return [{ kind: 'slot', name: SLOT, content: content ?? null }];
  };

  const isCheck = (call: PreparedCall): boolean => {
    const { name, arguments: text } = call.call;
    return store.isCheck(name, argumentsOf(deps, store, text));
  };

  const observation = ({ call, prepared, outcome, errorClass }: EndedCall): BatchCall => ({
    tool: call.name,
    arguments: call.arguments,
    outcome,
    errorClass,
    registered: deps.tools.get(call.name) !== undefined,
    isCheck: batch.checks.has(prepared),
  });

  return {
    name: 'plan',
    position: store.position,

    async begin(state) {
      const content = state.transcript.slot(SLOT);
      // Only the slot is asked: what stands in any other message is no plan, whoever wrote it.
      resumePlan(store, content === undefined ? [] : [{ role: 'system', content }]);
      const records = refresh(state);
      if (records.length > 0) await state.journal.append(records);
      if (store.position().open) state.emit({ type: 'plan', view: planViewOf(store.state()) });
    },

    beforeBatch(_state, calls) {
      batch = { epoch: store.epoch(), checks: new Set(calls.filter(isCheck)) };
    },

    isBarrier: (call) => batch.checks.has(call),

    // Each change is stored with the result of its own call, whatever else the batch does.
    mustFollow: (later, earlier) => isPlanCall(later) && isPlanCall(earlier),

    afterCall(state, ended) {
      const isOthers = changes.length > 0;
      // A call that was refused before it ran has changed nothing; as a check it has failed.
      if ('tool' in ended.prepared || batch.checks.has(ended.prepared)) store.record(finishedCall(deps, store, ended), batch.epoch);
      // A plan call has changed the plan and is about to end: the change belongs to its commit.
      if (isOthers && !isPlanCall(ended.prepared)) return [];
      const records = refresh(state);
      if (changes.length > 0) untold.set(ended.key, { changes: changes.splice(0), view: planViewOf(store.state()) });
      return records;
    },

    afterStored(state, { key }) {
      const told = untold.get(key);
      if (told === undefined) return;
      untold.delete(key);
      for (const change of told.changes) {
        for (const body of planEvents(change)) state.emit(body);
        streak ||= change.blocked_streak;
      }
      state.emit({ type: 'plan', view: told.view });
    },

    async afterBatch(state, ended) {
      const hints = streak ? [BLOCKED_STREAK_HINT] : [];
      streak = false;
      const reason = reassessment.observe(ended.map(observation), store.position().open);
      if (reason === undefined) return hints;
      const data = { reason, failure_batches: FAILURE_BATCHES } as const;
      state.emit({ type: 'plan_reassessment', iteration: state.iteration, data });
      return [...hints, reassessmentHint(reason)];
    },

    async onAnswer(state, _thought, text) {
      held = undefined;
      const pending = store.pendingChecks();
      if (pending.length === 0) return undefined;
      // Asking again where nothing more can follow would lose the answer.
      const mayGoOn = state.iteration < state.settings.maxIterations && state.budget.exceeded() === undefined;
      const hint = mayGoOn ? nudge.take(pending) : undefined;
      if (hint === undefined) return { kind: 'answer', text: text + completionNotice(pending) };
      held = text;
      return { kind: 'again', hint };
    },

    heldBack: () => (held === undefined ? undefined : held + completionNotice(store.pendingChecks())),

    remaining: () => remainingSteps(store.state()) || undefined,

    atLimit() {
      const pairs = remainingPairs(store.state());
      if (pairs === '') return undefined;
      return {
        message: `[odek: a limit ended the run before the plan was finished. The steps that are left:]\n${wrap(REMAINING_SOURCE, pairs)}`,
        told: `plan steps that are left: ${pairs}`,
      };
    },

    end: () => desk.close(run),
  };
}

/** In place of the plan stage where planning is off: a plan of earlier is kept, and not shown to a model that cannot change it. */
export const withoutPlan: Stage = {
  name: 'plan',
  async begin({ transcript }) {
    transcript.setSlot(SLOT, undefined);
  },
};
