import { createReconcileStage } from '../recovery/reconcile-stage.ts';
import { createRecoveryStage } from '../recovery/recovery-stage.ts';
import type { AgentDeps, AgentSettings } from './settings.ts';
import type { Stage } from './stage.ts';

/** The stages of one run, in the order they are asked. */
export function createStages(deps: AgentDeps, _settings: AgentSettings): readonly Stage[] {
  return [createRecoveryStage(deps), createReconcileStage(deps)];
}
