/** What the service or the network answers → {@link ChatError}. No text of them holds the token. */
import type { GrammyError } from 'grammy';
import { ChatError } from '../../ports/chat.ts';
import { isOdekError } from '../../ports/errors.ts';
import type { ApiFault } from './attempts.ts';

const MAX_DESCRIPTION = 300;
const MAX_RETRY_SECONDS = 7 * 86_400;

const isNetworkFault = (error: unknown): error is { readonly error: unknown } =>
  error instanceof Error && error.name === 'HttpError' && 'error' in error;

const isRefusal = (error: unknown): error is GrammyError => error instanceof Error && error.name === 'GrammyError' && 'error_code' in error;

/** By the service's words, which are the only thing that tells these apart. */
const OF_BAD_REQUEST: readonly (readonly [words: RegExp, code: ChatError['code'] & string])[] = [
  [/message is not modified/i, 'chat_not_modified'],
  [/too[ _]long/i, 'chat_too_long'],
  [/file is too big|too[ _]large/i, 'chat_file_too_big'],
  [/not found|wrong file_id|can't be deleted|MESSAGE_ID_INVALID/i, 'chat_not_found'],
];

type Code = ConstructorParameters<typeof ChatError>[0];

function codeOf(status: number, description: string): Code {
  if (status === 401 || status === 404) return 'chat_unauthorized';
  if (status === 403) return 'chat_forbidden';
  if (status === 409) return 'chat_conflict';
  if (status === 413) return 'chat_file_too_big';
  if (status === 429) return 'chat_rate_limited';
  if (status >= 500) return 'chat_service';
  return (OF_BAD_REQUEST.find(([words]) => words.test(description))?.[1] ?? 'chat_bad_request') as Code;
}

/** Removes the token wherever a text holds it. */
export type Mask = (text: string) => string;

function refusal(method: string, error: GrammyError, mask: Mask): ChatError {
  const description = mask(error.description).slice(0, MAX_DESCRIPTION);
  const seconds = Math.min(error.parameters.retry_after ?? 0, MAX_RETRY_SECONDS);
  const code = codeOf(error.error_code, description);
  return new ChatError(code, `the Bot API refused ${method}: ${description}`, {
    value: error.error_code,
    ...(error.parameters.migrate_to_chat_id !== undefined && { movedTo: error.parameters.migrate_to_chat_id }),
    ...(code === 'chat_rate_limited' && { retryAfterMs: seconds * 1000 }),
  });
}

/** What one attempt came to, and what that means for the next. */
export function faultOf(method: string, error: unknown, mask: Mask): ApiFault {
  if (isRefusal(error)) {
    const of = refusal(method, error, mask);
    const retry = error.error_code === 429 || error.error_code >= 500;
    return { error: of, retry, arrived: error.error_code >= 500 ? 'perhaps' : 'no', network: false };
  }
  const inner = isNetworkFault(error) ? error.error : error;
  if (inner instanceof ChatError) {
    const retry = inner.code === 'chat_service';
    return { error: inner, retry, arrived: retry ? 'perhaps' : 'no', network: false };
  }
  const code = isOdekError(inner) ? inner.code : 'network';
  const message = isOdekError(inner) ? mask(inner.message) : 'the connection failed';
  // What was refused here will be refused again.
  const retry = !['invalid_url', 'invalid_request', 'host_refused', 'proxy_refused'].includes(code);
  const before = ['connection_refused', 'dns_failure', 'tls_failure'].includes(code) || !retry;
  const of = new ChatError('chat_network', `the Bot API could not be asked for ${method}: ${message}`, { value: code });
  return { error: of, retry, arrived: before ? 'no' : 'perhaps', network: true };
}

/** The new id of a group that became a supergroup. */
export const movedTo = (error: unknown): number | undefined => (error instanceof ChatError ? error.movedTo : undefined);

/** A topic that was deleted, closed or never was one. */
export const isTopicGone = (error: unknown): boolean =>
  error instanceof ChatError && error.code === 'chat_not_found' && /thread not found/i.test(error.message);
