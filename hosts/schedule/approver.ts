import { createStoredApprover } from '../../adapters/approver/stored.ts';
import type { Store } from '../../adapters/store/index.ts';
import type { Approver } from '../../ports/approval.ts';
import type { ResolvedConfig } from '../config/types.ts';
import { type ApproverKind, choose, type HostPolicy } from '../policy.ts';

/** Named as the surface on which the questions of scheduled runs are answered. */
const SURFACE = 'telegram';

export interface ScheduleApproverParts {
  readonly config: ResolvedConfig;
  readonly policy: HostPolicy;
  readonly store: Pick<Store, 'approvals'>;
  redact(text: string): string;
  warn(text: string): void;
  /** A question waits now. */
  onWaiting?(): void;
}

/**
 * Who is asked about the calls of scheduled runs: with `schedules.approver: "telegram"` the people of
 * `schedules.telegram_admin_users`, through the store, whichever process the bot is. Undefined: nobody.
 */
export function scheduleApprover({ config, policy, store, redact, warn, onWaiting }: ScheduleApproverParts): Approver | undefined {
  const { approver, telegram_admin_users: users } = config.schedules;
  const { default: usual, ceiling } = policy.approver;
  if (choose<ApproverKind>(policy.approver, approver, [usual, ceiling]).value !== SURFACE) return undefined;
  if (users.length === 0) {
    warn('schedules.approver is "telegram" and schedules.telegram_admin_users names nobody: scheduled runs can ask nobody');
    return undefined;
  }
  return createStoredApprover({
    open: async () => ({ approvals: store.approvals, close: async () => {} }),
    audience: { surface: SURFACE, users },
    redact,
    ...(onWaiting && { onWaiting: () => onWaiting() }),
  });
}
