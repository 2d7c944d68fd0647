import type { McpConnection, McpServer } from '../../ports/mcp.ts';
import type { ToolSpec } from '../../ports/plugin.ts';
import type { SchemaCheck } from '../../ports/schema.ts';
import type { CheckedTool } from './definition.ts';

/** What core knows of a tool because a host registered it as one of an MCP server. No plugin can say it of itself. */
export interface McpMark {
  readonly server: string;
  readonly tool: string;
  /** `register`: the approval of the registration is the approval of each call. `call`: each call asks a person. */
  readonly approve: 'register' | 'call';
  /** Checks arguments instead of the schema that the model was given. Absent: the server checks them. */
  readonly check?: SchemaCheck;
}

/** A tool for `ToolRegistry.registerMcp`. */
export interface McpTool {
  readonly spec: ToolSpec;
  readonly mark: McpMark;
  /** From now on each call fails with {@link McpToolError}: the server no longer has it, or describes it in another way. */
  retire(why: 'removed' | 'changed'): void;
}

export interface McpToolDeps {
  readonly connection: Pick<McpConnection, 'call'>;
}

export function createMcpTool(server: McpServer, { name, description, parameters, checkInput }: CheckedTool, _deps: McpToolDeps): McpTool {
  return {
    spec: { name: name.registered, description, parameters, execute: async () => '' },
    mark: { server: server.name, tool: name.tool, approve: server.approve, ...(checkInput && { check: checkInput }) },
    retire: () => {},
  };
}
