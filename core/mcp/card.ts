import type { McpServer } from '../../ports/mcp.ts';
import { displayText } from '../approvals/display.ts';
import type { McpToolApproval } from './approval.ts';
import { definitionChanges } from './changes.ts';
import type { CheckedTool } from './definition.ts';

/** Characters of a description on a card of its own, and on one of many. */
const MAX_DESCRIPTION_CHARS = 4000;
const MAX_LISTED_CHARS = 800;
const MAX_FIELD_CHARS = 2000;

/** Shown as one line, so that no value can look like another field. */
function quoted(text: string): string {
  return displayText(JSON.stringify(text), MAX_FIELD_CHARS);
}

function line(label: string, values: readonly string[]): readonly string[] {
  return values.length === 0 ? [] : [`  ${label}: ${values.join(' ')}`];
}

function launchLines(server: McpServer): readonly string[] {
  if (server.transport === 'http') {
    return [`  url: ${quoted(server.url)}`, ...line('token from', server.tokenEnv === undefined ? [] : [quoted(server.tokenEnv)])];
  }
  const env = Object.entries(server.env).map(([name, value]) => `    ${quoted(name)} = ${quoted(value)}`);
  return [`  command: ${quoted(server.command)}`, ...line('args', server.args.map(quoted)), ...(env.length > 0 ? ['  env:', ...env] : [])];
}

/**
 * What a person is shown before a project's server starts: command, arguments, environment with values,
 * or the URL, and its limits. `project` is the absolute path of the project's folder. Safe to show.
 */
export function serverCard(server: McpServer, project: string): string {
  const { timeoutMs, maxResponseBytes, maxResultChars, artifactRoots } = server;
  return [
    `The project ${quoted(project)} wants to ${server.transport === 'http' ? 'connect to' : 'start'} the MCP server ${quoted(server.name)}.`,
    ...launchLines(server),
    `  limits: timeout_seconds ${timeoutMs / 1000}, max_response_bytes ${maxResponseBytes}, max_result_chars ${maxResultChars}`,
    ...line('artifact_roots', artifactRoots.map(quoted)),
  ].join('\n');
}

function schemaLine({ digest }: CheckedTool): string {
  return `schema: sha256:${digest.schemaSha256} (${digest.schemaBytes} bytes)`;
}

function changeLines(tool: CheckedTool, before: McpToolApproval | undefined): readonly string[] {
  if (before === undefined || before.digest.sha256 === tool.digest.sha256) return [];
  const since = `changed since it was approved on ${displayText(before.approvedAt, 40)}:`;
  if (before.definition === undefined)
    return [`${since} the approved definition was too large to keep; its schema had ${before.digest.schemaBytes} bytes`];
  return [since, ...definitionChanges(before.definition, tool.definition)];
}

function toolLines(tool: CheckedTool, before: McpToolApproval | undefined, maxChars: number): readonly string[] {
  const text = displayText(tool.definition.description, maxChars) || '(no description)';
  const withheld = tool.descriptionWithheld ? ['(odek does not show this description to the model)'] : [];
  return [text, ...withheld, schemaLine(tool), ...changeLines(tool, before)];
}

/** What a person is shown of one tool: its description, `schema: sha256:… (N bytes)`, and what changed since `before` was approved. Safe to show. */
export function toolCard(tool: CheckedTool, before?: McpToolApproval): string {
  return [`MCP tool ${tool.name.qualified}`, ...toolLines(tool, before, MAX_DESCRIPTION_CHARS).map((each) => `  ${each}`)].join('\n');
}

export interface WaitingTool {
  readonly tool: CheckedTool;
  /** The last approval under another key of the same server and tool. */
  readonly before?: McpToolApproval;
}

/** One card for all tools of a server that wait for an approval, numbered from 1. Safe to show. */
export function toolsCard(server: McpServer, waiting: readonly WaitingTool[]): string {
  const head = `MCP server ${quoted(server.name)} offers ${waiting.length} ${waiting.length === 1 ? 'tool' : 'tools'} that you have not approved:`;
  const entries = waiting.flatMap(({ tool, before }, index) => [
    `${index + 1}. ${tool.name.tool}`,
    ...toolLines(tool, before, MAX_LISTED_CHARS).map((each) => `   ${each}`),
  ]);
  return [head, ...entries].join('\n');
}
