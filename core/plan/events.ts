/** Plan changes as events: counts and version only, never titles or notes. */
import type { WireBody } from '../../ports/event.ts';
import type { PlanCounts } from './summary.ts';

/** One effective mutation. */
export interface PlanChange extends PlanCounts {
  readonly version: number;
  /** The mutation was a `create`. */
  readonly created: boolean;
  /** The mutation was a `revise` or a `check_replace`. */
  readonly revised: boolean;
  /** It carried the third consecutive transition to blocked. */
  readonly blocked_streak: boolean;
}

/** The events of a change, in order. They carry no iteration. */
export function planEvents(change: PlanChange): readonly WireBody[] {
  const { steps, done, in_progress, blocked, pending, version } = change;
  const told: WireBody = change.created
    ? { type: 'plan_created', data: { steps, version } }
    : { type: 'plan_updated', data: { steps, done, in_progress, blocked, pending, version } };
  return change.blocked_streak ? [told, { type: 'plan_blocked', data: { steps, blocked, version } }] : [told];
}
