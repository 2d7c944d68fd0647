import type { McpServer } from '../../ports/mcp.ts';
import type { McpToolApproval } from './approval.ts';
import type { CheckedTool } from './definition.ts';

/** What a person is shown before a project's server starts: command, arguments, environment with values, or the URL. Safe to show. */
export function serverCard(server: McpServer, _project: string): string {
  return server.name;
}

/** What a person is shown of one tool: its description, `schema: sha256:… (N bytes)`, and what changed since it was approved. */
export function toolCard(tool: CheckedTool, _before?: McpToolApproval): string {
  return tool.name.qualified;
}

/** One card for all tools of a server that wait for an approval, numbered from 1. */
export function toolsCard(server: McpServer, _tools: readonly { readonly tool: CheckedTool; readonly before?: McpToolApproval }[]): string {
  return server.name;
}
