/** Where calls of the plan tool find the plan of their run. */
import type { PlanControl, PlanReply } from '../../ports/plan.ts';
import { PlanError, planErrorText } from './errors.ts';
import type { PlanChange } from './events.ts';
import { createPlanStore, type PlanStore, type PlanStoreOptions } from './store.ts';

export interface PlanDeskOptions extends Omit<PlanStoreOptions, 'onChange'> {
  /** Masks the secrets of JSON text. What a plan never holds, no message, event or reply can tell. */
  redact(json: string): string;
}

/** The plans of all runs of one host. Several runs may be under way at once; each has its own plan. */
export interface PlanDesk extends PlanControl {
  /** An empty plan for `run`. `onChange` as in {@link PlanStoreOptions}. */
  open(run: string, onChange: (change: PlanChange) => void): PlanStore;
  /** Calls of `run` are refused from now on. */
  close(run: string): void;
}

/** A call that names no run means the only one there is. */
export function createPlanDesk({ redact, ...options }: PlanDeskOptions): PlanDesk {
  const plans = new Map<string, PlanStore>();

  const planOf = (run: string | undefined): PlanStore | undefined => {
    if (run !== undefined) return plans.get(run);
    return plans.size === 1 ? plans.values().next().value : undefined;
  };

  return {
    open(run, onChange) {
      const store = createPlanStore({ ...options, onChange });
      plans.set(run, store);
      return store;
    },
    close: (run) => void plans.delete(run),
    async execute(args, run): Promise<PlanReply> {
      const plan = planOf(run);
      if (plan !== undefined) return plan.execute(typeof args === 'string' ? redact(args) : args);
      const error = new PlanError('plan_arguments', 'plan: this call belongs to no run', { repair: '{"verb":"get"}', value: run });
      return { content: planErrorText(error), failed: true };
    },
  };
}
