import type { McpToolDefinition, McpToolList } from '../../ports/mcp.ts';
import { definitionOf, shown } from './content.ts';
import { TransportFault } from './faults.ts';
import { isFields } from './fields.ts';

const MAX_PAGES = 1000;
const MAX_TOOLS = 10_000;
const MAX_WARNINGS = 20;

/**
 * Follows every cursor. The first page's failure is thrown; a later one ends the listing, which keeps what it
 * has and says so. `explain` puts an error into words.
 */
export async function listAll(
  fetchPage: (cursor: string | undefined) => Promise<unknown>,
  explain: (error: unknown) => string,
): Promise<McpToolList> {
  const tools = new Map<string, McpToolDefinition>();
  const warnings = new Set<string>();
  const warn = (text: string): void => {
    if (warnings.size < MAX_WARNINGS) warnings.add(text);
  };
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 1; ; page += 1) {
    let result: unknown;
    try {
      result = await fetchPage(cursor);
    } catch (error) {
      if (page === 1) throw error;
      warn(`page ${page} of the list of tools failed, ${tools.size} tools are known: ${explain(error)}`);
      break;
    }
    if (!isFields(result) || !Array.isArray(result.tools)) {
      if (page === 1) throw new TransportFault({ kind: 'bad_message', why: 'the list of tools is not a list' });
      warn(`page ${page} of the list of tools holds no list`);
      break;
    }
    if (!take(result.tools, tools, warn)) break;
    const { nextCursor } = result;
    if (typeof nextCursor !== 'string' || nextCursor === '') break;
    if (seen.has(nextCursor)) {
      warn(`the list of tools repeats its cursor ${shown(nextCursor)} after page ${page}`);
      break;
    }
    if (page === MAX_PAGES) {
      warn(`the list of tools has more than ${MAX_PAGES} pages`);
      break;
    }
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return { tools: [...tools.values()], warnings: [...warnings] };
}

/** False when no more are taken. */
function take(page: readonly unknown[], tools: Map<string, McpToolDefinition>, warn: (text: string) => void): boolean {
  for (const raw of page) {
    const definition = definitionOf(raw);
    if (typeof definition === 'string') warn(definition);
    else if (tools.has(definition.name)) warn(`the tool ${shown(definition.name)} is listed twice; the first one counts`);
    else if (tools.size === MAX_TOOLS) {
      warn(`the server lists more than ${MAX_TOOLS} tools`);
      return false;
    } else tools.set(definition.name, definition);
  }
  return true;
}
