import { OdekError } from './errors.ts';

export interface HttpRequest {
  readonly method: string;
  /** Absolute http or https URL. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Chunks are sent in order with one content-length. */
  readonly body?: string | readonly Uint8Array[];
  /** Milliseconds until response headers must have arrived; absent means no limit of its own. */
  readonly headersTimeoutMs?: number;
}

/** `body` must be read to its end or `cancel` called. Header names are lower-case; repeated headers are joined by ", ". */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
  cancel(): void;
}

/**
 * HTTP. The composition root decides the mode (DECISIONS 13): `operator` reaches only configured
 * hosts, `guarded` only public addresses and `network.allow_hosts`.
 *
 * Contract:
 * - A response of any status is returned, never thrown.
 * - Redirects are not followed.
 * - Failures reject with {@link HttpError}; its text never holds a resolved address.
 * - When `signal` fires, the request or the body read rejects with `CancelledError` and the socket is closed.
 */
export interface HttpClient {
  request(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>;
  close(): Promise<void>;
}

export type HttpErrorCode =
  | 'invalid_url'
  | 'invalid_request'
  | 'host_refused'
  | 'proxy_refused'
  | 'dns_failure'
  | 'connection_refused'
  | 'connection_reset'
  | 'tls_failure'
  | 'headers_timeout'
  | 'network';

/** The request got no response, or its body broke off. */
export class HttpError extends OdekError {
  constructor(code: HttpErrorCode, message: string, details: { value?: unknown; limit?: unknown; cause?: unknown } = {}) {
    super(code, message, details);
  }
}
