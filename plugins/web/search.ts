import { HttpError } from '../../ports/http.ts';
import { definePlugin, defineTool, type SearchEngine, type ToolResult } from '../../ports/plugin.ts';
import { readBody } from './fetch.ts';
import { failure, success } from './result.ts';
import { hostsOf } from './target.ts';

interface SearchInput {
  readonly query: string;
  readonly category?: string;
  readonly max_results?: number;
}

const MAX_RESULTS = 50;
const MAX_QUERY_CHARS = 2000;
const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_TEXT_CHARS = 1000;
const MAX_URL_CHARS = 2000;
/** Fifty results, each character of which may take six in JSON. */
const MAX_RESULT_CHARS = 1_250_000;

/** Searching the web, where the operator has a search engine. */
export default definePlugin({
  name: 'web-search',
  inject: ['tools', 'searchEngine'],
  apply({ tools, searchEngine }) {
    tools.register(
      defineTool<SearchInput>({
        name: 'web_search',
        description: 'Search the web: {results:[{title,url,content}]}.',
        parameters: {
          type: 'object',
          properties: {
            query: { type: 'string', minLength: 1, maxLength: MAX_QUERY_CHARS },
            category: { type: 'string', maxLength: 100, description: 'For example general, news, it, science' },
            max_results: { type: 'integer', minimum: 1, description: `At most ${MAX_RESULTS}` },
          },
          required: ['query'],
          additionalProperties: false,
        },
        maxResultChars: MAX_RESULT_CHARS,
        timeoutMs: searchEngine.timeoutMs,
        effects: () => ({ hosts: hostsOf(searchEngine.baseUrl) }),
        execute: (input, { signal }) => searched(searchEngine, input, signal),
      }),
    );
  },
});

async function searched(engine: SearchEngine, input: SearchInput, signal: AbortSignal): Promise<ToolResult> {
  const source = `web_search:${input.query}`;
  try {
    const headers = { accept: 'application/json' };
    const response = await engine.http.request({ method: 'GET', url: searchUrl(engine, input), headers }, signal);
    if (response.status !== 200) {
      response.cancel();
      return failure({ error: `the search engine answered with status ${response.status}; 200 is expected` }, source);
    }
    const body = await readBody(response, MAX_BODY_BYTES);
    if (body === undefined) return failure({ error: `the search engine's answer is longer than ${MAX_BODY_BYTES} bytes (4 MiB)` }, source);
    const found = resultsIn(new TextDecoder().decode(body));
    if (found === undefined) return failure({ error: 'the search engine did not answer with a JSON object that has results' }, source);
    const most = Math.min(MAX_RESULTS, input.max_results ?? engine.maxResults);
    return success({ results: found.flatMap(shown).slice(0, most) }, source);
  } catch (error) {
    if (error instanceof HttpError) return failure({ error: error.message }, source);
    throw error;
  }
}

function searchUrl({ baseUrl, categories, language }: SearchEngine, { query, category = categories }: SearchInput): string {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/search`;
  url.hash = '';
  const asked = new URLSearchParams({ q: query, format: 'json' });
  if (category !== '') asked.set('categories', category);
  if (language !== '') asked.set('language', language);
  url.search = asked.toString();
  return url.href;
}

function resultsIn(text: string): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const results = typeof value === 'object' && value !== null && 'results' in value ? value.results : undefined;
    return Array.isArray(results) ? results : undefined;
  } catch {
    return undefined;
  }
}

/** One result of the server's as the model gets it; none where it has no URL. */
function shown(result: unknown): readonly object[] {
  if (typeof result !== 'object' || result === null) return [];
  const { title, url, content } = result as Record<string, unknown>;
  if (typeof url !== 'string' || url === '' || url.length > MAX_URL_CHARS) return [];
  return [{ title: cut(title), url, content: cut(content) }];
}

function cut(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, MAX_TEXT_CHARS) : '';
}
