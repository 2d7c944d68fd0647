import { definePlugin, defineTool, type ToolResult } from '../../ports/plugin.ts';
import type { SessionSearch, SessionSummary } from '../../ports/session-search.ts';

interface SearchInput {
  readonly action: 'list' | 'search' | 'get' | 'find';
  readonly query?: string;
  readonly limit?: number;
}

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 20;
const MAX_QUERY_CHARS = 1000;
/** The messages of a session are bounded by the service to 64 Ki characters, of which each may take six in JSON. */
const MAX_RESULT_CHARS = 450_000;
const SOURCE = 'session_search';

/** What earlier sessions were about. */
export default definePlugin({
  name: 'session-search',
  inject: ['tools', 'sessions'],
  apply({ tools, sessions }) {
    tools.register(
      defineTool<SearchInput>({
        name: 'session_search',
        description:
          'Past sessions: list (newest first), find (query: part of the task), search (query: words said in it), get (query: session id; its user and assistant messages).',
        parameters: {
          type: 'object',
          properties: {
            action: { enum: ['list', 'search', 'get', 'find'] },
            query: { type: 'string', maxLength: MAX_QUERY_CHARS },
            limit: { type: 'integer', minimum: 1, description: `Sessions (default ${DEFAULT_LIMIT}, max ${MAX_LIMIT})` },
          },
          required: ['action'],
        },
        maxResultChars: MAX_RESULT_CHARS,
        effects: () => ({}),
        execute: (input, { runId }) => answered(sessions, input, runId),
      }),
    );
  },
});

async function answered(sessions: SessionSearch, { action, query = '', limit }: SearchInput, run: string | undefined): Promise<ToolResult> {
  const most = Math.min(MAX_LIMIT, Math.max(1, Math.trunc(limit ?? DEFAULT_LIMIT)));
  if (action === 'list') return success({ sessions: (await sessions.list(most)).map(shown) });
  if (query.trim() === '') return failure(`action "${action}" needs a query`);
  if (action === 'find') return success({ sessions: (await sessions.find(query, most)).map(shown) });
  if (action === 'search') {
    const hits = await sessions.search(query, most, run);
    return success({ sessions: hits.map((hit) => ({ ...shown(hit), matched: hit.matched, snippet: hit.snippet })) });
  }
  const found = await sessions.messages(query.trim());
  if (found === undefined) return failure(`there is no session ${JSON.stringify(query.trim().slice(0, 130))}; list and search give ids`);
  const omitted = found.omitted > 0 && { omitted: found.omitted };
  return success({ session: shown(found.session), ...omitted, session_messages: found.messages });
}

function shown({ id, title, createdAt, updatedAt, turns, model }: SessionSummary): object {
  return { id, task: title, created: new Date(createdAt).toISOString(), updated: new Date(updatedAt).toISOString(), turns, model };
}

function success(value: object): ToolResult {
  return { content: JSON.stringify(value), source: SOURCE };
}

function failure(error: string): ToolResult {
  return { content: JSON.stringify({ error }), failed: true, source: SOURCE };
}
