import type { HostPolicy } from '../policy.ts';

/** The row of the policy table for the Telegram chat (docs/policy-matrix.md). Jobs that the bot runs have a row of their own. */
export const TELEGRAM_POLICY = {
  surface: 'telegram',
  mcp: { client: false, connectFailure: 'none' },
  approver: { default: 'telegram', ceiling: 'telegram' },
  nonInteractive: { default: 'read_only', ceiling: 'read_only' },
  sandbox: { default: 'config', ceiling: 'config' },
  sessions: { default: 'listed', ceiling: 'listed' },
  budgets: 'turn',
  tools: ['clarify', 'send_message'],
} as const satisfies HostPolicy;
