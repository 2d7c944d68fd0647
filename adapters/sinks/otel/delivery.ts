import type { Clock } from '../../../ports/clock.ts';
import { isOdekError } from '../../../ports/errors.ts';
import type { HttpClient, HttpResponse } from '../../../ports/http.ts';

interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface Wire {
  readonly http: HttpClient;
  readonly clock: Clock;
}

/** How a request ended. */
export interface Delivery {
  /** Absent: it was taken. Otherwise why it was not. */
  readonly failure?: string;
  /** Items of a request that was taken which the receiver did not want. */
  readonly rejected: number;
}

const TRIES = 3;
const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 5_000;
const MAX_REPLY_BYTES = 65_536;
const HEADERS_TIMEOUT_MS = 5_000;
/** Statuses for which the protocol says to try again. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

interface Attempt extends Delivery {
  readonly retry: boolean;
  /** The receiver's wish. */
  readonly waitMs?: number;
}

/** At most {@link MAX_REPLY_BYTES} of the body; a longer one is cut off. */
async function readReply(response: HttpResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > MAX_REPLY_BYTES) {
      response.cancel();
      return '';
    }
  }
  return Buffer.concat(chunks).toString('utf8');
}

function rejectedIn(reply: string): number {
  try {
    const { partialSuccess } = JSON.parse(reply) as { readonly partialSuccess?: Readonly<Record<string, unknown>> };
    const count = Number(partialSuccess?.rejectedSpans ?? partialSuccess?.rejectedDataPoints ?? 0);
    return Number.isSafeInteger(count) && count > 0 ? count : 0;
  } catch {
    return 0;
  }
}

async function attempt({ http }: Wire, { url, headers, body }: Post, signal: AbortSignal): Promise<Attempt> {
  try {
    const request = { method: 'POST', url, headers: { 'content-type': 'application/json', ...headers }, body };
    const response = await http.request({ ...request, headersTimeoutMs: HEADERS_TIMEOUT_MS }, signal);
    const rejected = rejectedIn(await readReply(response));
    if (response.status >= 200 && response.status < 300) return { rejected, retry: false };
    const seconds = Number(response.headers['retry-after']);
    const wish = Number.isFinite(seconds) && seconds > 0 ? { waitMs: seconds * 1_000 } : {};
    return { failure: `status ${response.status}`, rejected: 0, retry: RETRYABLE.has(response.status), ...wish };
  } catch (error) {
    if (signal.aborted) return { failure: 'not delivered in time', rejected: 0, retry: false };
    const code = isOdekError(error) ? error.code : 'unexpected error';
    return { failure: code.replaceAll('_', ' '), rejected: 0, retry: code !== 'host_refused' && code !== 'invalid_request' };
  }
}

/** Posts once, and at most twice more where that can help. Never rejects; `signal` ends it. */
export async function deliver(wire: Wire, post: Post, signal: AbortSignal): Promise<Delivery> {
  for (let tries = 1; ; tries += 1) {
    const { retry, waitMs = FIRST_WAIT_MS * 2 ** (tries - 1), ...delivery } = await attempt(wire, post, signal);
    if (!retry || tries === TRIES) return delivery;
    try {
      await wire.clock.sleep(Math.min(waitMs, MAX_WAIT_MS), signal);
    } catch {
      return delivery;
    }
  }
}
