import type { Hash } from '../../ports/hash.ts';
import type { McpServer, McpToolDefinition } from '../../ports/mcp.ts';
import type { JsonSchema } from '../../ports/message.ts';
import type { SchemaCheck, SchemaValidator } from '../../ports/schema.ts';
import type { DefinitionDigest } from './fingerprint.ts';
import type { McpToolName } from './names.ts';

/** A definition that passed every check. Nothing in `definition` is trusted; what a model gets stands beside it. */
export interface CheckedTool {
  readonly name: McpToolName;
  readonly definition: McpToolDefinition;
  readonly digest: DefinitionDigest;
  /** For the model: wrapped as untrusted, or a placeholder. */
  readonly description: string;
  /** The scan found something in the description, and the model gets none. */
  readonly descriptionWithheld: boolean;
  /** For the model: an object at the root, references resolved, every value with a type. */
  readonly parameters: JsonSchema;
  /** Of the schema as the server gave it. Absent: nothing can check it here, the server does. */
  readonly checkInput?: SchemaCheck;
  readonly checkOutput?: SchemaCheck;
}

/** A tool that is left out, and why. */
export interface RefusedTool {
  readonly tool: string;
  /** One sentence without its end, safe to show. */
  readonly reason: string;
}

export interface CheckedDefinitions {
  readonly tools: readonly CheckedTool[];
  readonly refused: readonly RefusedTool[];
  /** One line each, safe to show: refused tools, withheld descriptions, checks that are off. */
  readonly warnings: readonly string[];
}

export interface DefinitionDeps {
  readonly hash: Hash;
  readonly validator: SchemaValidator;
}

/**
 * Checks every definition of a listing on its own: one bad tool never removes another. `names` are the
 * names of `definitions`, in their order (see `mcpToolNames`, which ends the start for a bad one).
 * Never rejects.
 */
export async function checkDefinitions(
  _server: McpServer,
  _definitions: readonly McpToolDefinition[],
  _names: readonly McpToolName[],
  _deps: DefinitionDeps,
): Promise<CheckedDefinitions> {
  return { tools: [], refused: [], warnings: [] };
}
