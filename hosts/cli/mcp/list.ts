import { parseToolApproval } from '../../../core/mcp/approval.ts';
import type { McpServer } from '../../../ports/mcp.ts';
import { EXIT } from '../exit-codes.ts';
import { loginText } from './login.ts';
import type { McpWork } from './work.ts';

interface ServerRow {
  readonly name: string;
  readonly origin: string;
  /** What lets it start; `ask` where somebody is asked first. */
  readonly start: string;
  readonly approved_tools: readonly string[];
  readonly auto_approve: boolean;
  readonly approve: string;
  /** What is known of a login at it; empty for none. */
  readonly login: string;
  readonly target: string;
}

/** `odek mcp list`: every configured server and what is approved of it. Nothing is started. */
export async function listServers(work: McpWork): Promise<number> {
  const rows = await Promise.all(work.servers.map((server) => rowOf(server, work)));
  if (work.json) work.out(JSON.stringify(rows, null, 2));
  else if (rows.length === 0) work.out('No MCP server is configured. docs/mcp.md says how to add one.');
  else for (const line of table(rows)) work.out(line);
  return EXIT.ok;
}

async function rowOf(server: McpServer, work: McpWork): Promise<ServerRow> {
  const kept = (await work.store.list('tools')).map(parseToolApproval).filter((record) => record !== undefined);
  const own = kept.filter((record) => record.project === work.project && record.server === server.name);
  return {
    name: server.name,
    origin: server.origin,
    start: (await work.approvals({ open: true }).serverGrant(server)) ?? 'ask',
    approved_tools: [...new Set(own.map(({ tool }) => tool))].sort(),
    auto_approve: server.autoApprove,
    approve: server.approve,
    login: await loginText(work, server),
    target: work.target(server),
  };
}

function table(rows: readonly ServerRow[]): readonly string[] {
  const cells = rows.map((row): readonly string[] => [
    row.name,
    row.origin,
    row.start,
    row.auto_approve ? 'all' : String(row.approved_tools.length),
    row.approve,
    row.login === '' ? '-' : row.login,
    row.target,
  ]);
  const all = [['server', 'from', 'start', 'approved tools', 'asks at', 'login', 'target'], ...cells];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  return all.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
