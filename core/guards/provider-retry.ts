import { CancelledError, DeadlineError, isOdekError } from '../../ports/errors.ts';
import type { Ids } from '../../ports/ids.ts';
import type { ProviderErrorCode } from '../../ports/llm.ts';
import { ProviderError } from '../../ports/llm.ts';

const BASE_DELAY_MS = 1_000;
const MAX_BACKOFF_MS = 30_000;
const MAX_RETRY_AFTER_MS = 60_000;

/**
 * Milliseconds to wait after failed attempt number `attempt` (from 1): the server's wish up to 60 s,
 * else a doubling step of which a random half is taken off.
 */
export function retryDelayMs(attempt: number, retryAfterMs: number | undefined, ids: Ids): number {
  if (retryAfterMs !== undefined) return Math.min(Math.max(0, retryAfterMs), MAX_RETRY_AFTER_MS);
  const step = Math.min(BASE_DELAY_MS * 2 ** (attempt - 1), MAX_BACKOFF_MS);
  const random = Number.parseInt(ids.hex(2), 16) / 0xffff;
  return Math.round(step * (1 - random / 2));
}

/** The error of a call as one of the three families that a caller has to know. After an abort every failure is the cancel. */
export function toGuardedError(error: unknown, name: string, aborted: boolean): ProviderError | CancelledError | DeadlineError {
  if (aborted) return error instanceof CancelledError ? error : new CancelledError(`the call of ${name} was cancelled`, { cause: error });
  if (error instanceof ProviderError || error instanceof DeadlineError) return error;
  if (isProviderShaped(error)) {
    const { code, message, retryable, status, retryAfterMs, value, limit } = error;
    return new ProviderError(code as ProviderErrorCode, message, { value, limit, retryable, status, retryAfterMs, cause: error });
  }
  const text = error instanceof Error ? error.message : String(error);
  return new ProviderError('invalid_response', `${name} failed: ${text}`, {
    value: isOdekError(error) ? error.code : undefined,
    cause: error,
  });
}

/** A provider error that another copy of the package made. */
function isProviderShaped(error: unknown): error is ProviderError {
  return isOdekError(error) && 'retryable' in error && typeof error.retryable === 'boolean';
}
