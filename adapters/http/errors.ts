import type { HttpErrorCode } from '../../ports/http.ts';
import { HttpError } from '../../ports/http.ts';

const BY_SYSTEM_CODE: Readonly<Record<string, HttpErrorCode>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ECONNABORTED: 'connection_reset',
  ENOTFOUND: 'dns_failure',
  EAI_AGAIN: 'dns_failure',
  EAI_FAIL: 'dns_failure',
  EAI_NODATA: 'dns_failure',
  EAI_NONAME: 'dns_failure',
  EPROTO: 'tls_failure',
  ERR_INVALID_CHAR: 'invalid_request',
  ERR_INVALID_HTTP_TOKEN: 'invalid_request',
  ERR_UNESCAPED_CHARACTERS: 'invalid_url',
};

const TLS_CODE = /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|CRL_|INVALID_CA|INVALID_PURPOSE)/;

const WHAT_HAPPENED: Readonly<Partial<Record<HttpErrorCode, string>>> = {
  connection_refused: 'refused the connection',
  connection_reset: 'closed the connection before the reply was complete',
  dns_failure: 'has no address: the name could not be resolved',
  tls_failure: 'did not offer a connection that can be trusted',
  invalid_request: 'was not asked: the method or a header is not valid HTTP',
  invalid_url: 'was not asked: the URL is not valid',
};

/**
 * Turns a socket's error into an {@link HttpError}. Only the system's code and the host as the
 * caller named it enter the text: the system's own message holds the resolved address, so it is
 * not kept as a cause either.
 */
export function toHttpError(error: unknown, host: string): HttpError {
  if (error instanceof HttpError) return error;
  const systemCode = readCode(error);
  const code = BY_SYSTEM_CODE[systemCode] ?? (TLS_CODE.test(systemCode) ? 'tls_failure' : 'network');
  return new HttpError(code, `${host} ${WHAT_HAPPENED[code] ?? 'could not be reached'} (${systemCode})`, { value: host });
}

function readCode(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : 'unknown error';
}
