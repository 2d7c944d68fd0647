import { type HttpClient, HttpError } from '../../ports/http.ts';
import { defineTool, type ToolResult, type ToolSpec } from '../../ports/plugin.ts';
import { fetchPage, TIMEOUT_MS } from './fetch.ts';
import { failure, success } from './result.ts';
import { hostsOf, targetOf } from './target.ts';

interface HttpRequestInput {
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const MAX_HEADERS = 64;
/** A URL of 8192 characters comes back, and may stand in an error too; each may take six in JSON. */
const MAX_RESULT_CHARS = 100_000;
const USER_AGENT = 'odek-http/0.1';

/** `http_request`: whether and how a URL answers. */
export function httpRequestTool(http: HttpClient): ToolSpec {
  return defineTool<HttpRequestInput>({
    name: 'http_request',
    description:
      'Ask a public URL without reading the body: {url,status,content_length?,error?}. 30 s; redirects are followed within the host.',
    parameters: {
      type: 'object',
      properties: {
        url: { type: 'string' },
        method: { enum: METHODS, description: 'Default GET' },
        headers: { type: 'object', maxProperties: MAX_HEADERS, additionalProperties: { type: 'string' } },
      },
      required: ['url'],
      additionalProperties: false,
    },
    maxResultChars: MAX_RESULT_CHARS,
    timeoutMs: TIMEOUT_MS,
    effects: ({ url, method = 'GET' }) => ({ hosts: hostsOf(url), ...(!READING.has(method) && { uploads: true }) }),
    execute: (input, { signal }) => asked(http, input, signal),
  });
}

async function asked(
  http: HttpClient,
  { url: text, method = 'GET', headers = {} }: HttpRequestInput,
  signal: AbortSignal,
): Promise<ToolResult> {
  let asked: URL | undefined;
  try {
    asked = targetOf(text);
    const { url, response, fault } = await fetchPage(http, { method, url: asked, headers: withAgent(headers) }, signal);
    response.cancel();
    const length = response.headers['content-length'];
    const known = length !== undefined && /^\d{1,15}$/.test(length) && { content_length: Number(length) };
    const answer = { url: url.href, status: response.status, ...known };
    return fault === undefined ? success(answer, url.href) : failure({ ...answer, error: fault }, url.href);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return failure({ ...(asked && { url: asked.href }), error: error.message }, asked?.href ?? 'http_request');
  }
}

function withAgent(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const isNamed = Object.keys(headers).some((name) => name.toLowerCase() === 'user-agent');
  return isNamed ? headers : { ...headers, 'user-agent': USER_AGENT };
}
