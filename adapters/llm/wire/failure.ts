import type { HttpErrorCode } from '../../../ports/http.ts';
import type { ProviderErrorCode } from '../../../ports/llm.ts';
import { ProviderError } from '../../../ports/llm.ts';
import type { JsonObject } from '../json-reading.ts';
import { asObject, asText, parseJson } from '../json-reading.ts';

/** What a service said about its failure, by HTTP status or inside a reply. Text is free of keys. */
export interface Failure {
  /** 0 when the reply itself had no failing status. */
  readonly status: number;
  readonly text: string;
  /** The service's own code and type, joined; empty when it gave none. */
  readonly label: string;
  readonly retryAfterMs: number | undefined;
}

/** Who failed, for the text of the error. */
export interface FailureSource {
  readonly id: string;
  readonly model: string;
  readonly baseUrl: string;
  /** How the operator sets the key, in words. */
  readonly keyHint: string;
}

const MAX_TEXT = 500;

const CONTEXT_LENGTH =
  /context_length_exceeded|maximum context length|context length|token limit|context window|max_input_tokens|input length|too many tokens|input is too long|reduce the length|prompt is too long|exceeds? context limit|available context size|input token count|maximum number of tokens|maximum prompt length|prompt exceeds max|prompt token count|request_too_large|^1261\b/i;

const BILLING =
  /insufficient_quota|insufficient[ _]balance|exceeded your current quota|billing|credit balance|insufficient credits|payment required|recharge|\b1113\b/i;

/** Out of money, said with a plain 400. */
const BILLING_REFUSAL = /credit balance|billing_error|spend limit|usage limits?\b.*\breached/i;

const KEY_REFUSAL = /API_KEY_INVALID|API key not valid/i;

/** Reads the error of a failing reply: any JSON shape, or plain text. `hideKey` removes the key from text. */
export function readFailure(
  status: number,
  body: string,
  headers: { retryAfterMs?: number | undefined },
  hideKey: (text: string) => string,
): Failure {
  const parsed = parseJson(body)?.value;
  const root = asObject(Array.isArray(parsed) ? parsed[0] : parsed);
  const failure = root === undefined ? undefined : failureInReply(root, hideKey);
  const text =
    failure?.text ??
    shorten(
      hideKey(
        body
          .replace(/<[^>]*>/g, ' ')
          .replace(/\s+/g, ' ')
          .trim(),
      ),
    );
  return { status, text, label: failure?.label ?? '', retryAfterMs: headers.retryAfterMs ?? failure?.retryAfterMs };
}

/** The failure that a chunk or a whole body reports; undefined when it reports none. */
export function failureInReply(root: JsonObject, hideKey: (text: string) => string): Failure | undefined {
  const error = root.error;
  const details = asObject(error) ?? (asText(error) === undefined && root.object !== 'error' && !isBareMessage(root) ? undefined : root);
  if (details === undefined) return undefined;
  const text = withPassedOn(asText(details.message) ?? asText(details.detail) ?? asText(error) ?? JSON.stringify(details), details);
  const marks = readDetails(details.details);
  const label = [details.code, details.type, details.status, ...marks.names]
    .filter((part) => typeof part === 'string' || typeof part === 'number')
    .map(String)
    .join(' ');
  const code = Number(details.code);
  return { status: code >= 400 && code < 600 ? code : 0, text: shorten(hideKey(text)), label, retryAfterMs: marks.retryAfterMs };
}

/** A service that asks others adds what they said: without it "Provider returned error" is all there is. */
function withPassedOn(text: string, details: JsonObject): string {
  const raw = asText(asObject(details.metadata)?.raw);
  if (raw === undefined) return text;
  const inner = asObject(parseJson(raw)?.value);
  const said = asText(asObject(inner?.error)?.message) ?? asText(inner?.message) ?? raw;
  return `${text}: ${said}`;
}

/** Google's `details`: the reason, the quota that was hit, and the wait (`"34.5s"`). */
function readDetails(raw: unknown): { readonly names: readonly string[]; readonly retryAfterMs: number | undefined } {
  const entries = Array.isArray(raw) ? raw.map(asObject).filter((entry) => entry !== undefined) : [];
  const quotas = entries.flatMap((entry) =>
    Array.isArray(entry.violations) ? entry.violations.map((each) => asObject(each)?.quotaId) : [],
  );
  const names = [...entries.map((entry) => entry.reason), ...quotas].filter((name) => typeof name === 'string');
  const wait = entries.map((entry) => /^(\d+(?:\.\d+)?)s$/.exec(asText(entry.retryDelay) ?? '')?.[1]).find((text) => text !== undefined);
  return { names, retryAfterMs: wait === undefined ? undefined : Number(wait) * 1000 };
}

/** `{"message": …}` or `{"detail": …}` without any part of a completion. */
function isBareMessage(root: JsonObject): boolean {
  return root.choices === undefined && root.usage === undefined && (asText(root.message) ?? asText(root.detail)) !== undefined;
}

/** Decides once what a failure means and whether trying again can help. */
export function toProviderError(failure: Failure, source: FailureSource): ProviderError {
  const { status } = failure;
  const said = `${source.id}${status === 0 ? '' : ` answered HTTP ${status}`}: ${failure.text || 'no explanation'}`;
  const make = (code: ProviderErrorCode, message: string, retryable: boolean): ProviderError =>
    new ProviderError(code, message, {
      value: failure.label || failure.text,
      retryable,
      status: status === 0 ? undefined : status,
      retryAfterMs: retryable ? failure.retryAfterMs : undefined,
    });
  const evidence = `${failure.label} ${failure.text}`;
  if (status === 400 && KEY_REFUSAL.test(evidence)) return make('provider_auth', `${said}. ${source.keyHint}`, false);
  if (status === 401 || status === 403) return make('provider_auth', `${said}. ${source.keyHint}`, false);
  if (isOutOfMoney(failure, evidence)) return make('provider_quota', said, false);
  if (status === 429) return make('rate_limited', said, true);
  if (status === 413 || CONTEXT_LENGTH.test(evidence)) return make('context_length', said, false);
  if (status === 404)
    return make('provider_request', `${said}. Check the model "${source.model}" and the base URL ${source.baseUrl}`, false);
  if (status >= 300 && status < 400)
    return make('provider_config', `${said}. The base URL ${source.baseUrl} redirects; set the final one`, false);
  if (status === 408 || status === 409 || status === 425) return make('provider_unavailable', said, true);
  if (status >= 400 && status < 500) return make('provider_request', said, false);
  return classifyUnmarked(failure, said, make);
}

function isOutOfMoney({ status, retryAfterMs }: Failure, evidence: string): boolean {
  if (status === 402) return true;
  if (status === 400) return BILLING_REFUSAL.test(evidence);
  // Google calls every limit a quota; one that ends within minutes says when, one of a day says so too.
  const passes = /RESOURCE_EXHAUSTED/.test(evidence) && retryAfterMs !== undefined && !/per ?day/i.test(evidence);
  return (status === 429 || status === 0) && BILLING.test(evidence) && !passes;
}

type MakeError = (code: ProviderErrorCode, message: string, retryable: boolean) => ProviderError;

function classifyUnmarked(failure: Failure, said: string, make: MakeError): ProviderError {
  if (failure.status === 501 || failure.status === 505) return make('provider_request', said, false);
  if (failure.status === 0 && /rate.?limit/i.test(failure.label)) return make('rate_limited', said, true);
  if (failure.status === 0 && /invalid_request|invalid_prompt|bad_request|not_found/i.test(failure.label))
    return make('provider_request', said, false);
  if (failure.status === 0 && /authentication|permission|invalid_api_key/i.test(failure.label)) return make('provider_auth', said, false);
  return make('provider_unavailable', said, true);
}

const NETWORK_CODES: Readonly<Partial<Record<HttpErrorCode, { code: ProviderErrorCode; retryable: boolean }>>> = {
  invalid_url: { code: 'provider_config', retryable: false },
  invalid_request: { code: 'provider_config', retryable: false },
  host_refused: { code: 'provider_config', retryable: false },
  tls_failure: { code: 'network', retryable: false },
  dns_failure: { code: 'network', retryable: false },
};

/** A request that got no reply. */
export function fromHttpError(error: { code: string; message: string }, source: FailureSource): ProviderError {
  const { code, retryable } = NETWORK_CODES[error.code as HttpErrorCode] ?? { code: 'network', retryable: true };
  return new ProviderError(code, `${source.id}: ${error.message}`, { value: error.code, retryable, cause: error });
}

/** `Retry-After` as seconds or as an HTTP date, and the millisecond form that some services add. */
export function readRetryAfter(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const milliseconds = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (Number.isFinite(milliseconds)) return Math.max(0, milliseconds);
  const value = headers['retry-after']?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function shorten(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)}…`;
}
