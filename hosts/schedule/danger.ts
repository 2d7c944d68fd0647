import { actionOf, DEFAULT_ACTIONS } from '../../core/approvals/actions.ts';
import { DANGER_CLASSES, type DangerAction, type DangerClass, type DangerPolicy } from '../../ports/approval.ts';
import { NEVER_SCHEDULED } from '../config/schedule-keys.ts';
import type { ResolvedConfig } from '../config/types.ts';

type Dangerous = ResolvedConfig['dangerous'];

/** What a class may do where `schedules.dangerous` has no word for it: no more than where somebody watches. */
function unsaid(cls: DangerClass, general: DangerPolicy, canAsk: boolean): DangerAction {
  const usual = DEFAULT_ACTIONS[cls];
  if (usual === 'allow') return actionOf(cls, general) === 'allow' ? 'allow' : 'deny';
  return usual === 'prompt' && canAsk ? 'prompt' : 'deny';
}

/**
 * The rules of a scheduled run, every class spelled out: what is allowed by default stays so, unless the operator's
 * `dangerous` is stricter; what would ask is denied until `schedules.dangerous` grants it; {@link NEVER_SCHEDULED}
 * is denied whatever anything says. `canAsk`: somebody answers cards.
 */
export function scheduleDanger({ dangerous, schedules }: Pick<ResolvedConfig, 'dangerous' | 'schedules'>, canAsk: boolean): Dangerous {
  const own = schedules.dangerous;
  const held = (action: DangerAction): DangerAction => (action === 'prompt' && !canAsk ? 'deny' : action);
  const general: DangerPolicy = { ...dangerous, nonInteractive: 'deny' };
  const actionFor = (cls: DangerClass): DangerAction => {
    if (NEVER_SCHEDULED.includes(cls)) return 'deny';
    return held(own.classes[cls] ?? own.action ?? unsaid(cls, general, canAsk));
  };
  const action = own.action ?? (dangerous.action === 'deny' ? 'deny' : undefined);
  const { action: _general, ...rest } = dangerous;
  return {
    ...rest,
    classes: Object.fromEntries(DANGER_CLASSES.map((cls) => [cls, actionFor(cls)])),
    allowlist: own.allowlist,
    denylist: [...new Set([...dangerous.denylist, ...own.denylist])],
    ...(action !== undefined && { action: held(action) }),
    non_interactive: 'deny',
    never: NEVER_SCHEDULED,
  };
}
