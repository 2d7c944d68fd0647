import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { type CheckedDefinitions, type CheckedTool, checkDefinitions } from '../../../core/mcp/definition.ts';
import { mcpToolNames } from '../../../core/mcp/names.ts';
import type { McpServer, McpToolDefinition } from '../../../ports/mcp.ts';
import { fakeMcpServer } from '../../fakes/mcp.ts';

export const hash = createSha256();
const validator = createSchemaValidator();

export const SERVER: McpServer = fakeMcpServer({ name: 'ci', artifactRoots: ['/art'] });

export function definition(facts: Partial<McpToolDefinition> = {}): McpToolDefinition {
  return { name: 'report', description: 'Makes a report.', inputSchema: { type: 'object' }, ...facts };
}

/** Checks definitions as a start would; names that end a start throw. */
export async function checked(...definitions: readonly McpToolDefinition[]): Promise<CheckedDefinitions> {
  const tools = definitions.map(({ name }) => name);
  return checkDefinitions(SERVER, definitions, mcpToolNames(SERVER.name, tools, { holderOf: () => undefined }, hash), { hash, validator });
}

/** The one tool of one good definition. */
export async function checkedTool(facts: Partial<McpToolDefinition> = {}): Promise<CheckedTool> {
  const { tools, refused } = await checked(definition(facts));
  const [tool] = tools;
  if (tool === undefined) throw new Error(`refused: ${refused[0]?.reason}`);
  return tool;
}
