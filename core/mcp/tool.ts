import { ArtifactError } from '../../ports/artifact.ts';
import { isOdekError, OdekError } from '../../ports/errors.ts';
import type { McpConnection, McpServer } from '../../ports/mcp.ts';
import type { ToolExecution, ToolResult, ToolSpec } from '../../ports/plugin.ts';
import type { SchemaCheck } from '../../ports/schema.ts';
import type { ArtifactDesk } from '../artifacts/desk.ts';
import type { ArtifactRef } from '../artifacts/ref.ts';
import type { TruncationNotice } from '../results/shape.ts';
import type { CheckedTool } from './definition.ts';
import { mcpSource } from './names.ts';
import { resultLimit, truncationNotice } from './result-limit.ts';
import { resultText } from './result-text.ts';

/** What core knows of a tool because a host registered it as one of an MCP server. No plugin can say it of itself. */
export interface McpMark {
  readonly server: string;
  readonly tool: string;
  /** `register`: the approval of the registration is the approval of each call. `call`: each call asks a person. */
  readonly approve: 'register' | 'call';
  /** Checks arguments instead of the schema that the model was given. Absent: the server checks them. */
  readonly check?: SchemaCheck;
  /** How the model is told that a result was cut. */
  readonly notice: TruncationNotice;
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
  /** Absent: every reference to an artifact is refused. */
  readonly artifacts?: Pick<ArtifactDesk, 'accept'> | undefined;
}

type McpToolErrorCode = 'mcp_tool_removed' | 'mcp_tool_changed';

/** A tool that is not the one any more that was let in. */
export class McpToolError extends OdekError {
  readonly server: string;
  readonly tool: string;

  constructor(code: McpToolErrorCode, message: string, { server, tool }: { readonly server: string; readonly tool: string }) {
    super(code, message, { value: tool });
    this.server = server;
    this.tool = tool;
  }
}

/** The connection has a time limit of its own; core's stands behind it, for a connection that overlooks it. */
const TIME_MARGIN_MS = 15_000;

const RETIRED = {
  removed: ['mcp_tool_removed', 'the server no longer has this tool'],
  changed: ['mcp_tool_changed', 'the server now describes this tool in another way, which nobody has approved yet'],
} as const;

/** Makes the tool of a checked definition that was approved. */
export function createMcpTool(server: McpServer, checked: CheckedTool, deps: McpToolDeps): McpTool {
  const { name, description, parameters, checkInput, definition } = checked;
  const place = { server: server.name, tool: name.tool };
  const label = `MCP server "${place.server}", tool "${place.tool}"`;
  let retired: keyof typeof RETIRED | undefined;

  const artifactLines = async (refs: readonly ArtifactRef[], { sessionId, signal }: ToolExecution): Promise<readonly string[]> => {
    if (refs.length === 0) return [];
    if (deps.artifacts === undefined || sessionId === undefined)
      throw new ArtifactError('artifact_refused', 'artifacts are not accepted here');
    const source = mcpSource(place.server, place.tool);
    return deps.artifacts.accept(refs, { session: sessionId, source, roots: server.artifactRoots, signal });
  };

  const execute = async (input: Readonly<Record<string, unknown>>, exec: ToolExecution): Promise<ToolResult> => {
    if (retired !== undefined) {
      const [code, told] = RETIRED[retired];
      throw new McpToolError(code, `${label}: ${told}`, place);
    }
    const result = await deps.connection.call(definition.name, input, { signal: exec.signal });
    try {
      const { text, artifacts } = resultText(result, checked.checkOutput);
      return { content: text, failed: result.isError, artifacts: await artifactLines(artifacts, exec) };
    } catch (error) {
      if (!isOdekError(error) || error.code === 'cancelled') throw error;
      const { code, message, value, limit } = error;
      throw new OdekError(code, `${label}: the result is refused: ${message}`, { value, limit, cause: error });
    }
  };

  return {
    spec: {
      name: name.registered,
      description,
      parameters,
      maxResultChars: resultLimit(server.name, server.maxResultChars).chars,
      timeoutMs: server.timeoutMs + TIME_MARGIN_MS,
      execute,
    },
    mark: {
      ...place,
      approve: server.approve,
      notice: (observed, limit) => truncationNotice(place.server, place.tool, observed, limit),
      ...(checkInput && { check: checkInput }),
    },
    retire(why) {
      retired ??= why;
    },
  };
}
