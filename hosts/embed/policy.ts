import type { HostPolicy } from '../policy.ts';

/** The row of the policy table for programs that embed odek (docs/policy-matrix.md). */
export const EMBED_POLICY = {
  surface: 'embedded',
  mcp: { client: true, connectFailure: 'abort' },
  approver: { default: 'none', ceiling: 'terminal' },
  nonInteractive: { default: 'read_only', ceiling: 'allow' },
  sandbox: { default: 'opt_in', ceiling: 'opt_in' },
  sessions: { default: 'ephemeral', ceiling: 'listed' },
  budgets: 'run',
  tools: [],
} as const satisfies HostPolicy;
