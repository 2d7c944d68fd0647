/** odek's HTTP client in the shape of `fetch`, as far as grammY uses it. */
import { ChatError } from '../../ports/chat.ts';
import { CancelledError } from '../../ports/errors.ts';
import type { HttpClient, HttpResponse } from '../../ports/http.ts';

/** Bytes of an answer: 100 updates with long texts are far below. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

/** Framing is the client's own business. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['connection', 'content-length']);

interface FetchInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | AsyncIterable<Uint8Array>;
  /** Of another package's make: only these two are asked of it. */
  readonly signal?: { readonly aborted: boolean; addEventListener(type: 'abort', listener: () => void): void };
}

async function bodyOf(body: FetchInit['body']): Promise<string | readonly Uint8Array[] | undefined> {
  if (body === undefined || typeof body === 'string') return body;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return chunks;
}

async function readText({ body, cancel }: HttpResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) {
      cancel();
      throw new ChatError('chat_service', `the Bot API's answer has more than ${MAX_ANSWER_BYTES} bytes`, {
        value: size,
        limit: MAX_ANSWER_BYTES,
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A proxy's error page is no answer of the service, whatever its status. */
function parsed(text: string, status: number): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && 'ok' in value) return value;
  } catch {
    // Told below.
  }
  throw new ChatError('chat_service', `the Bot API answered with status ${status} and no JSON`, { value: status });
}

/** The body of an answer is read before the promise resolves. */
export function createFetch(http: HttpClient) {
  return async (url: string | URL, init: FetchInit = {}): Promise<{ json(): Promise<unknown> }> => {
    const ended = new AbortController();
    if (init.signal?.aborted === true) throw new CancelledError();
    init.signal?.addEventListener('abort', () => ended.abort());
    const body = await bodyOf(init.body);
    const headers = Object.fromEntries(Object.entries(init.headers ?? {}).filter(([name]) => !OWN_HEADERS.has(name.toLowerCase())));
    const response = await http.request(
      { method: init.method ?? 'GET', url: String(url), headers, ...(body !== undefined && { body }) },
      ended.signal,
    );
    const value = parsed(await readText(response), response.status);
    return { json: async () => value };
  };
}
