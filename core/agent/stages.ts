import { createPlanStage, withoutPlan } from '../plan/plan-stage.ts';
import { createReconcileStage } from '../recovery/reconcile-stage.ts';
import { createRecoveryStage } from '../recovery/recovery-stage.ts';
import type { AgentDeps, AgentSettings } from './settings.ts';
import type { Stage } from './stage.ts';

/** The stages of one run, in the order they are asked. */
export function createStages(deps: AgentDeps, _settings: AgentSettings, run: string): readonly Stage[] {
  const plan = deps.plans && createPlanStage(deps, deps.plans, run);
  return [plan ?? withoutPlan, createRecoveryStage(deps, plan?.position), createReconcileStage(deps)];
}
