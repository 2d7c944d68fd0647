import { type AuditedTurn, createAuditStage } from '../audit/stage.ts';
import { createContextStage } from '../context/stage.ts';
import { createJobStage } from '../jobs/stage.ts';
import { createPlanStage, withoutPlan } from '../plan/plan-stage.ts';
import { createReconcileStage } from '../recovery/reconcile-stage.ts';
import { createRecoveryStage } from '../recovery/recovery-stage.ts';
import { createVerificationStage } from '../verification/verification-stage.ts';
import { createPluginPromptStage } from './plugin-prompt.ts';
import type { AgentDeps, AgentSettings } from './settings.ts';
import type { Stage } from './stage.ts';

/** The stages of one run, in the order they are asked. Context measures what the others added, and the audit looks at what came of it all. */
export function createStages(deps: AgentDeps, settings: AgentSettings, run: string, turn: AuditedTurn): readonly Stage[] {
  const plan = deps.plans && createPlanStage(deps, deps.plans, run);
  const verification = settings.verify === undefined ? [] : [createVerificationStage(settings.verify)];
  return [
    plan ?? withoutPlan,
    createPluginPromptStage(deps, deps.pluginPrompt),
    createRecoveryStage(deps, plan?.position),
    createReconcileStage(deps),
    ...verification,
    ...(deps.jobs === undefined ? [] : [createJobStage(deps, deps.jobs)]),
    createContextStage(settings),
    ...(deps.audit === undefined ? [] : [createAuditStage(deps, deps.audit, turn)]),
  ];
}
