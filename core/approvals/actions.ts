import { DANGER_CLASSES, type DangerAction, type DangerClass, type DangerPolicy } from '../../ports/approval.ts';

/** What happens to each class when the operator said nothing. */
export const DEFAULT_ACTIONS: Readonly<Record<DangerClass, DangerAction>> = {
  safe: 'allow',
  local_write: 'allow',
  install: 'prompt',
  network_egress: 'allow',
  network_upload: 'prompt',
  code_execution: 'prompt',
  system_write: 'prompt',
  unread_exec: 'prompt',
  persistence: 'prompt',
  unknown: 'deny',
  destructive: 'deny',
  blocked: 'deny',
};

/** Classes that a person may not trust for a whole session. */
export const NEVER_TRUSTED: ReadonlySet<DangerClass> = new Set(['destructive', 'blocked', 'unknown', 'persistence', 'unread_exec']);

const STRICTNESS: Readonly<Record<DangerAction, number>> = { allow: 0, prompt: 1, deny: 2 };

/** The action for one class: the operator's word for it, else the operator's global action, else the built-in. `blocked` is always denied. */
export function actionOf(cls: DangerClass, policy: DangerPolicy): DangerAction {
  if (cls === 'blocked' || policy.never?.includes(cls)) return 'deny';
  return policy.classes[cls] ?? policy.action ?? DEFAULT_ACTIONS[cls];
}

/** Whether the operator's own words, not a built-in, allow the class. */
export function isExplicitlyAllowed(cls: DangerClass, policy: DangerPolicy): boolean {
  return actionOf(cls, policy) === 'allow' && (policy.classes[cls] ?? policy.action) === 'allow';
}

/** The class that decides: the strictest by action, then by rank. */
export function decidingClass(classes: readonly DangerClass[], policy: DangerPolicy): DangerClass {
  return [...classes].reduce((worst, cls) => (weight(cls, policy) > weight(worst, policy) ? cls : worst), classes[0] ?? 'unknown');
}

/** Without repeats, in rank order. */
export function ranked(classes: Iterable<DangerClass>): readonly DangerClass[] {
  const present = new Set(classes);
  return DANGER_CLASSES.filter((cls) => present.has(cls));
}

function weight(cls: DangerClass, policy: DangerPolicy): number {
  return STRICTNESS[actionOf(cls, policy)] * DANGER_CLASSES.length + DANGER_CLASSES.indexOf(cls);
}
