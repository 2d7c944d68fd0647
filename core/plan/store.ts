/** The plan of one run: the only place where plan state changes. */
import type { Hash } from '../../ports/hash.ts';
import type { PlanControl, PlanReply } from '../../ports/plan.ts';
import { createBlockedStreak } from './blocked-streak.ts';
import type { VerbEffect } from './effect.ts';
import { isPlanError, planErrorText } from './errors.ts';
import type { PlanChange } from './events.ts';
import { downgradeEvidence, type FinishedCall, mapChecks, matchesCheck, recordEvidence } from './evidence.ts';
import { planMessageContent, type UntrustedWrap } from './message.ts';
import { parsePlan } from './parse.ts';
import { renderPlan } from './render.ts';
import {
  EMPTY_PLAN,
  isOpen,
  type PlanLimits,
  type PlanRevision,
  type PlanState,
  type PlanStep,
  type StepStatus,
  sameRevision,
  sameSteps,
} from './state.ts';
import { countSteps, pendingChecks } from './summary.ts';
import { normaliseText } from './text.ts';
import { runPlanCall } from './verbs.ts';

export interface PlanStoreOptions extends PlanLimits {
  readonly hash: Hash;
  /**
   * Told once per effective mutation, in version order, before the mutating call returns. Not told of
   * no-ops, `get`, `restore` and `reset`. Must not throw.
   */
  readonly onChange?: (change: PlanChange) => void;
}

/** Where work stands, in ids alone. */
export interface PlanPosition {
  /** True while some step is not done. */
  readonly open: boolean;
  readonly inProgress?: string;
  readonly nextPending?: string;
  /** The last status that a step took on was `blocked`. */
  readonly lastBlocked: boolean;
}

/** The protected message. `fresh` is true once a version: then the injection is to be audited. */
interface PlanMessage {
  readonly content: string;
  readonly fresh: boolean;
}

export interface PlanStore extends PlanControl {
  state(): PlanState;
  position(): PlanPosition;
  /** `step/check` of checks that are neither passed nor blocked, sorted. */
  pendingChecks(): readonly string[];
  /** To be taken before a batch and given to {@link record}: checks declared later collect nothing from that batch. */
  epoch(): number;
  /** True when this call is a declared check: an ordering barrier in its batch. */
  isCheck(tool: string, argumentsText: string): boolean;
  /** Takes in the outcome of a finished call. */
  record(call: FinishedCall, epoch: number): void;
  /** The message to show, the same text (nonce included) for one version; `undefined` without a plan. */
  message(wrap: UntrustedWrap): PlanMessage | undefined;
  /** Takes over a persisted message, evidence downgraded. False, and no plan, when it does not parse. */
  restore(content: string): boolean;
  reset(): void;
}

/** Newer versions could leave the nine digits of the grammar within a run. */
const MAX_RESTORED_VERSION = 999_000_000;

interface Commit {
  readonly steps: readonly PlanStep[];
  readonly revision?: PlanState['revision'];
  readonly created?: boolean;
  readonly revised?: boolean;
  readonly transitions?: readonly StepStatus[];
}

/**
 * Serialises all mutations: each is one synchronous step from one valid state to the next, so calls
 * of a parallel batch cannot interleave, and versions have no gaps.
 */
export function createPlanStore(options: PlanStoreOptions): PlanStore {
  let state: PlanState = EMPTY_PLAN;
  let epoch = 0;
  const streak = createBlockedStreak();
  let shown: { readonly version: number; readonly content: string } | undefined;
  const tell = inOrder(options.onChange);

  const commit = (next: Commit): void => {
    const unchanged = sameSteps(next.steps, state.steps) && (next.revised || sameRevision(next.revision, state.revision));
    if (unchanged && !next.created) return;
    const version = state.version + 1;
    state = { version, steps: next.steps, ...(next.revision !== undefined && { revision: next.revision }) };
    if (next.created) streak.clear();
    const blocked_streak = streak.observe(next.transitions ?? []);
    const { created = false, revised = false } = next;
    tell({ ...countSteps(state.steps), version, created, revised, blocked_streak });
  };

  const apply = (verb: string, effect: VerbEffect): void => {
    const declares = verb === 'create' || verb === 'revise' || verb === 'check_replace';
    if (declares) epoch++;
    commit({ ...effect, revised: verb === 'revise' || verb === 'check_replace' });
  };

  const render = (): string => (state.steps.length === 0 ? 'No active plan.' : renderPlan(state, options.maxRenderChars));

  const execute = async (args: unknown): Promise<PlanReply> => {
    try {
      const { verb, effect } = runPlanCall(state, args, { limits: options, epoch: epoch + 1 });
      apply(verb, effect);
      return { content: `${effect.remark ?? ''}${render()}`, failed: false };
    } catch (error) {
      if (!isPlanError(error)) throw error;
      return { content: planErrorText(error), failed: true };
    }
  };

  const reset = (): void => {
    state = EMPTY_PLAN;
    epoch++;
    streak.clear();
    shown = undefined;
  };

  const restore = (content: string): boolean => {
    reset();
    const parsed = parsePlan(content, options.maxSteps);
    const version = parsed?.state.version ?? 0;
    if (parsed === undefined || version === 0 || version > MAX_RESTORED_VERSION) return false;
    const revision = normalisedRevision(parsed.state.revision);
    const steps = mapChecks(
      parsed.state.steps.map(normalisedStep),
      (check) => ({ ...check, epoch }),
      (step) => step.status,
    );
    const downgraded = downgradeEvidence(steps);
    state = { version: downgraded === steps ? version : version + 1, steps: downgraded, ...(revision !== undefined && { revision }) };
    if (downgraded === steps) shown = { version, content };
    return true;
  };

  const message = (wrap: UntrustedWrap): PlanMessage | undefined => {
    if (state.version === 0) return undefined;
    if (shown?.version === state.version) return { content: shown.content, fresh: false };
    shown = { version: state.version, content: planMessageContent(renderPlan(state, options.maxRenderChars), wrap) };
    return { content: shown.content, fresh: true };
  };

  return {
    execute,
    state: () => state,
    position: () => positionOf(state, streak.lastBlocked()),
    pendingChecks: () => pendingChecks(state),
    epoch: () => epoch,
    isCheck: (tool, argumentsText) => matchesCheck(state.steps, tool, argumentsText),
    record: (call, captured) => {
      commit({ ...state, steps: recordEvidence(state.steps, call, captured, options.hash) });
    },
    message,
    restore,
    reset,
  };
}

/** A listener that mutates adds to the queue and does not overtake. */
function inOrder(listener: PlanStoreOptions['onChange']): (change: PlanChange) => void {
  const untold: PlanChange[] = [];
  let telling = false;
  return (change) => {
    untold.push(change);
    if (telling) return;
    telling = true;
    try {
      for (let next = untold.shift(); next !== undefined; next = untold.shift()) listener?.(next);
    } finally {
      telling = false;
    }
  };
}

/** A persisted row may have been written under looser text rules. */
function normalisedStep(step: PlanStep): PlanStep {
  return { ...step, title: normaliseText(step.title), note: normaliseText(step.note) };
}

function normalisedRevision(revision: PlanRevision | undefined): PlanRevision | undefined {
  return revision && { ...revision, reason: normaliseText(revision.reason) };
}

function positionOf(state: PlanState, lastBlocked: boolean): PlanPosition {
  const inProgress = state.steps.find((step) => step.status === 'in_progress')?.id;
  const nextPending = state.steps.find((step) => step.status === 'pending')?.id;
  return {
    open: isOpen(state),
    ...(inProgress !== undefined && { inProgress }),
    ...(nextPending !== undefined && { nextPending }),
    lastBlocked,
  };
}
