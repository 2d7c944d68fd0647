import type { HostPolicy } from '../policy.ts';

/** The rows of the policy table that belong to the command line (docs/policy-matrix.md). */
export const CLI_POLICIES = {
  run: {
    surface: 'run',
    mcp: { client: true, connectFailure: 'abort' },
    approver: { default: 'terminal', ceiling: 'store' },
    nonInteractive: { default: 'read_only', ceiling: 'allow' },
    sandbox: { default: 'preferred', ceiling: 'opt_in' },
    sessions: { default: 'ephemeral', ceiling: 'listed' },
    budgets: 'run',
    tools: [],
  },
  continue: {
    surface: 'continue',
    mcp: { client: true, connectFailure: 'abort' },
    approver: { default: 'terminal', ceiling: 'store' },
    nonInteractive: { default: 'read_only', ceiling: 'allow' },
    sandbox: { default: 'preferred', ceiling: 'opt_in' },
    sessions: { default: 'listed', ceiling: 'listed' },
    budgets: 'run',
    tools: [],
  },
  repl: {
    surface: 'repl',
    mcp: { client: true, connectFailure: 'abort' },
    approver: { default: 'terminal', ceiling: 'store' },
    nonInteractive: { default: 'read_only', ceiling: 'allow' },
    sandbox: { default: 'preferred', ceiling: 'opt_in' },
    sessions: { default: 'listed', ceiling: 'listed' },
    budgets: 'turn',
    tools: ['clarify'],
  },
} as const satisfies Record<string, HostPolicy>;
