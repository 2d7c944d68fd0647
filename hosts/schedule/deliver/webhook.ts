import { createHmac } from 'node:crypto';
import { hasCode } from '../../../ports/errors.ts';
import type { HttpClient } from '../../../ports/http.ts';
import type { Delivery } from '../../../ports/schedule.ts';
import { DeliveryFault, type Sender } from '../scheduler.ts';

const TIMEOUT_MS = 30_000;
/** Statuses that say "later". */
const PASSING = new Set([408, 409, 425, 429]);
/** What no second attempt changes. */
const FINAL = ['invalid_url', 'invalid_request', 'host_refused', 'proxy_refused'];
const MAX_ASKED_MS = 3_600_000;

/** `t=<seconds>,v1=<hex>`: HMAC-SHA256 over `<seconds>.<body>`, so that neither can be exchanged. */
export function signatureOf(secret: string, seconds: number, body: string): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}

/** The same for every attempt at one result. */
export function idempotencyKey({ jobId, dueAt, id }: Pick<Delivery, 'jobId' | 'dueAt' | 'id'>): string {
  return `${jobId}-${dueAt}-${id}`;
}

/** What is posted. An attempt after the first may be a repeat: an answer can be lost although the request arrived. */
function bodyOf(delivery: Delivery): string {
  return JSON.stringify({
    type: 'odek.schedule.result',
    job: delivery.jobName,
    job_id: delivery.jobId,
    due_at: new Date(delivery.dueAt).toISOString(),
    ...(delivery.sessionId !== undefined && { session_id: delivery.sessionId }),
    attempt: delivery.attempts,
    possible_repeat: delivery.maybeRepeat || delivery.attempts > 1,
    text: delivery.text,
  });
}

/** Seconds, or a date. */
function askedWait(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, MAX_ASKED_MS) : undefined;
}

export interface WebhookParts {
  /** Guarded. */
  readonly http: HttpClient;
  /** Absent: nothing is sent. */
  readonly secret: string | undefined;
  now(): number;
}

/** Posts results as JSON, signed. Any status from 200 to 299 is a delivery. */
export function webhookSender({ http, secret, now }: WebhookParts): Sender {
  return async (delivery, signal) => {
    if (delivery.target.kind !== 'webhook') throw new DeliveryFault('no webhook', { retry: false });
    if (secret === undefined) {
      throw new DeliveryFault('schedules.webhook_secret is not set, and nothing is sent unsigned', { retry: true });
    }
    const body = bodyOf(delivery);
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'odek',
      'odek-signature': signatureOf(secret, Math.floor(now() / 1000), body),
      'idempotency-key': idempotencyKey(delivery),
    };
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    let status: number;
    let asked: number | undefined;
    try {
      const request = { method: 'POST', url: delivery.target.url, headers, body, headersTimeoutMs: TIMEOUT_MS };
      const response = await http.request(request, bounded);
      response.cancel();
      status = response.status;
      asked = askedWait(response.headers['retry-after'], now());
    } catch (error) {
      const isLate = bounded.aborted && !signal.aborted;
      const why = isLate ? `no answer within ${TIMEOUT_MS / 1000} s` : error instanceof Error ? error.message : String(error);
      throw new DeliveryFault(why, { retry: !FINAL.some((code) => hasCode(error, code)), cause: error });
    }
    if (status >= 200 && status < 300) return;
    const retry = status >= 500 || PASSING.has(status);
    throw new DeliveryFault(`the receiver answered ${status}`, { retry, ...(asked !== undefined && { retryAfterMs: asked }) });
  };
}
