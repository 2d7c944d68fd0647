import type { McpToolDefinition } from '../../ports/mcp.ts';

/**
 * What is different between a definition that was approved and the one that is there now, as lines of a
 * diff (`- ` before, `+ ` after, `  ` place): bounded, and safe to show. Empty when nothing is.
 */
export function definitionChanges(_before: McpToolDefinition, _after: McpToolDefinition): readonly string[] {
  return [];
}
