import { createPlanDesk, type PlanDesk } from '../core/plan/desk.ts';
import type { Redactor } from '../core/redact/redactor.ts';
import { PLUGIN_NAMES, type PluginName } from '../plugins/index.ts';
import type { Hash } from '../ports/hash.ts';
import type { Plugin } from '../ports/plugin.ts';
import type { ResolvedConfig } from './config/types.ts';

/** The tool, and the plugin that brings it. The name stays taken while planning is off. */
export const PLAN_TOOL = { plan: 'plan-tool' } as const satisfies Readonly<Record<string, PluginName>>;

/** Whether a host plans: the operator wants it, and the tool is there. */
export function isPlanning(config: Pick<ResolvedConfig, 'planning' | 'tools'>, builtIns?: readonly PluginName[]): boolean {
  const { enabled, disabled } = config.tools;
  const isOffered = (enabled === undefined || enabled.includes('plan')) && !disabled.includes('plan');
  return config.planning.enabled && isOffered && (builtIns === undefined || builtIns.includes(PLAN_TOOL.plan));
}

/** Whose declared effects are believed: the plugins that odek brings, where they are there. */
export function firstPartyOf(builtIns: readonly PluginName[] = PLUGIN_NAMES): (owner: string) => boolean {
  return (owner) => builtIns.some((name) => name === owner);
}

/** Whose tools are a third party's: not odek's own, and not of a plugin that the embedding program hands over as a live object. */
export function foreignOf(builtIns?: readonly PluginName[], handedOver: readonly Plugin[] = []): (owner: string) => boolean {
  const isFirstParty = firstPartyOf(builtIns);
  return (owner) => !isFirstParty(owner) && !handedOver.some((plugin) => plugin.name === owner);
}

export function openPlanDesk({ planning }: Pick<ResolvedConfig, 'planning'>, hash: Hash, redactor: Redactor): PlanDesk {
  return createPlanDesk({ maxSteps: planning.max_steps, maxRenderChars: planning.max_render_chars, hash, redact: redactor.json });
}
