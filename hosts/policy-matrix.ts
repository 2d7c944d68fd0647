import { CLI_POLICIES } from './cli/policy.ts';
import { markdownTable } from './markdown-table.ts';
import { MCP_POLICY } from './mcp/policy.ts';
import type { Cell, HostPolicy } from './policy.ts';
import { SCHEDULE_POLICIES } from './schedule/policy.ts';
import { TELEGRAM_POLICY } from './telegram/policy.ts';

/** Every surface's row, in the order of the document. */
export const POLICIES: readonly HostPolicy[] = [
  ...Object.values(CLI_POLICIES),
  MCP_POLICY,
  TELEGRAM_POLICY,
  ...Object.values(SCHEDULE_POLICIES),
];

const COLUMNS: readonly (readonly [title: string, text: (policy: HostPolicy) => string])[] = [
  ['surface', ({ surface }) => `\`${surface}\``],
  ['MCP client', ({ mcp }) => (mcp.client ? 'yes' : 'no')],
  ['connect failure', ({ mcp }) => (mcp.connectFailure === 'none' ? '–' : mcp.connectFailure)],
  ['approver', ({ approver }) => cell(approver)],
  ['non-interactive', ({ nonInteractive }) => cell(nonInteractive)],
  ['sandbox', ({ sandbox }) => cell(sandbox)],
  ['sessions', ({ sessions }) => cell(sessions)],
  ['budgets', ({ budgets }) => budgets],
  ['surface tools', ({ tools }) => (tools.length === 0 ? '–' : tools.join(', '))],
];

/** The Markdown table of `docs/policy-matrix.md`. */
export function policyMatrix(policies: readonly HostPolicy[]): string {
  return markdownTable(
    COLUMNS.map(([title]) => title),
    policies.map((policy) => COLUMNS.map(([, text]) => text(policy))),
  );
}

function cell({ default: standard, ceiling }: Cell<string>): string {
  return standard === ceiling ? standard : `${standard} (up to ${ceiling})`;
}
