import type { HostPolicy } from '../policy.ts';

/** The rows of the policy table for scheduled runs (docs/policy-matrix.md). */
export const SCHEDULE_POLICIES = {
  /** `odek schedule daemon` and `odek schedule run`. */
  daemon: {
    surface: 'schedule',
    mcp: { client: true, connectFailure: 'abort' },
    approver: { default: 'none', ceiling: 'telegram' },
    nonInteractive: { default: 'deny', ceiling: 'deny' },
    sandbox: { default: 'config', ceiling: 'config' },
    sessions: { default: 'listed', ceiling: 'listed' },
    budgets: 'job',
    tools: [],
  },
  /** The scheduler that the Telegram bot brings along. */
  telegram: {
    surface: 'schedule inside telegram',
    mcp: { client: true, connectFailure: 'warn' },
    approver: { default: 'none', ceiling: 'telegram' },
    nonInteractive: { default: 'deny', ceiling: 'deny' },
    sandbox: { default: 'config', ceiling: 'config' },
    sessions: { default: 'listed', ceiling: 'listed' },
    budgets: 'job',
    tools: [],
  },
} as const satisfies Record<string, HostPolicy>;
