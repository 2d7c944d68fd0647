import type { HostPolicy } from '../policy.ts';

/** The row of the policy table for odek as an MCP server (docs/policy-matrix.md). */
export const MCP_POLICY = {
  surface: 'mcp',
  mcp: { client: true, connectFailure: 'abort' },
  approver: { default: 'none', ceiling: 'none' },
  nonInteractive: { default: 'read_only', ceiling: 'allow' },
  sandbox: { default: 'opt_in', ceiling: 'opt_in' },
  sessions: { default: 'none', ceiling: 'none' },
  budgets: 'none',
  tools: [],
} as const satisfies HostPolicy;
