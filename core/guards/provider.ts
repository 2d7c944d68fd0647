import type { Clock } from '../../ports/clock.ts';
import { CancelledError, DeadlineError } from '../../ports/errors.ts';
import type { Ids } from '../../ports/ids.ts';
import type { LlmProvider, ModelEvent, ModelInfo, ModelRequest } from '../../ports/llm.ts';
import { ProviderError } from '../../ports/llm.ts';
import { createReplyCheck } from './provider-reply.ts';
import { retryDelayMs, toGuardedError } from './provider-retry.ts';
import { nextWithin } from './provider-wait.ts';

/** Told before the wait for the next attempt. */
export interface RetryInfo {
  /** The attempt that failed, from 1. */
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly delayMs: number;
  readonly error: ProviderError;
}

export interface ProviderGuardOptions {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Milliseconds for one call of `stream`, retries and their waits included. */
  readonly requestTimeoutMs: number;
  /** Milliseconds without any event of a streamed request. */
  readonly idleTimeoutMs: number;
  /** At least 1; default 8. */
  readonly maxAttempts?: number;
  /** Bound on the characters of a reply; default 50 Mi. */
  readonly maxResponseBytes?: number;
  onRetry?(info: RetryInfo): void;
}

/** Told to the adapter when its call is over. One value for all: making an error for each call that went well costs as much as sending it. */
const OVER = new CancelledError('the call is over');

const DEFAULT_MAX_ATTEMPTS = 8;
const DEFAULT_MAX_RESPONSE = 50 * 1024 * 1024;

/**
 * Makes any provider keep its contract: exactly one `response`, last; every failure a
 * `ProviderError`, `CancelledError` or `DeadlineError`; an end within bounded time after an abort,
 * even when the adapter ignores the signal. A retryable failure is tried again until the first text
 * or reasoning has been delivered.
 */
export function guardProvider(provider: LlmProvider, options: ProviderGuardOptions): LlmProvider {
  return {
    name: provider.name,
    stream: (request, signal) => streamGuarded(provider, request, signal, options),
    limits: (model) => provider.limits(model),
    ...(provider.models && { models: (signal) => listGuarded(provider, signal, options) }),
    close: () => provider.close(),
  };
}

/** One question without a retry: nobody's work depends on the answer. */
async function listGuarded(
  provider: LlmProvider,
  signal: AbortSignal,
  { clock, requestTimeoutMs }: ProviderGuardOptions,
): Promise<readonly ModelInfo[]> {
  const attempt = new AbortController();
  const listing = async function* (): AsyncGenerator<readonly ModelInfo[]> {
    yield (await provider.models?.(attempt.signal)) ?? [];
  };
  try {
    const next = await nextWithin(listing(), { clock, signal, timeoutMs: requestTimeoutMs });
    if (next.kind === 'aborted') throw new CancelledError(`the question to ${provider.name} was cancelled`);
    if (next.kind === 'timeout')
      throw new DeadlineError(`${provider.name} did not list its models within ${requestTimeoutMs} ms`, { limit: requestTimeoutMs });
    return next.kind === 'value' ? next.value : [];
  } catch (error) {
    throw toGuardedError(error, provider.name, signal.aborted);
  } finally {
    attempt.abort();
  }
}

interface Call {
  readonly provider: LlmProvider;
  readonly request: ModelRequest;
  readonly options: ProviderGuardOptions;
  readonly signal: AbortSignal;
  /** Milliseconds on the monotonic clock at which the whole call must be over. */
  readonly deadline: number;
}

async function* streamGuarded(
  provider: LlmProvider,
  request: ModelRequest,
  signal: AbortSignal,
  options: ProviderGuardOptions,
): AsyncGenerator<ModelEvent> {
  const { clock, ids, maxAttempts = DEFAULT_MAX_ATTEMPTS } = options;
  const call: Call = { provider, request, options, signal, deadline: clock.monotonic() + options.requestTimeoutMs };
  for (let attempt = 1; ; attempt += 1) {
    let delivered = false;
    try {
      for await (const event of streamOnce(call)) {
        delivered ||= event.type === 'text_delta' || event.type === 'reasoning_delta';
        yield event;
      }
      return;
    } catch (error) {
      if (!(error instanceof ProviderError) || !error.retryable || delivered || attempt >= maxAttempts) throw error;
      const delayMs = retryDelayMs(attempt, error.retryAfterMs, ids);
      // A wait that outlasts the call would only hide the reason of the failure.
      if (clock.monotonic() + delayMs >= call.deadline) throw error;
      options.onRetry?.({ attempt, maxAttempts, delayMs, error });
      await clock.sleep(delayMs, signal);
    }
  }
}

/** One attempt. The adapter gets a signal of its own, so that a time-out closes its connection too. */
async function* streamOnce(call: Call): AsyncGenerator<ModelEvent> {
  const { provider, request, options, signal, deadline } = call;
  if (signal.aborted) throw new CancelledError();
  const attempt = new AbortController();
  const check = createReplyCheck(provider.name, options.maxResponseBytes ?? DEFAULT_MAX_RESPONSE);
  let events: AsyncIterator<ModelEvent> | undefined;
  try {
    events = provider.stream(request, attempt.signal)[Symbol.asyncIterator]();
    for (;;) {
      const remainingMs = deadline - options.clock.monotonic();
      const idleMs = request.stream ? options.idleTimeoutMs : Number.POSITIVE_INFINITY;
      const next = await nextWithin(events, { clock: options.clock, signal, timeoutMs: Math.min(remainingMs, idleMs) });
      if (next.kind === 'end') throw check.missingResponse();
      if (next.kind !== 'value')
        throw describeEnd(next.kind, provider.name, { remainingMs, idleMs, requestTimeoutMs: options.requestTimeoutMs });
      yield* check.take(next.value);
      if (next.value.type === 'response') return;
    }
  } catch (error) {
    throw toGuardedError(error, provider.name, signal.aborted);
  } finally {
    attempt.abort(OVER);
    stopQuietly(events);
  }
}

interface Limits {
  readonly remainingMs: number;
  readonly idleMs: number;
  readonly requestTimeoutMs: number;
}

function describeEnd(kind: 'aborted' | 'timeout', name: string, limits: Limits): Error {
  if (kind === 'aborted') return new CancelledError(`the call of ${name} was cancelled`);
  if (limits.remainingMs <= limits.idleMs) {
    return new DeadlineError(`${name} did not finish within ${limits.requestTimeoutMs} ms`, { limit: limits.requestTimeoutMs });
  }
  return new ProviderError('stream_idle_timeout', `${name} sent nothing for ${limits.idleMs} ms`, {
    limit: limits.idleMs,
    retryable: true,
  });
}

/** An adapter that ignores its signal must not be waited for. */
function stopQuietly(events: AsyncIterator<ModelEvent> | undefined): void {
  try {
    events?.return?.()?.then(undefined, () => undefined);
  } catch {
    // The outcome of the call is already decided.
  }
}
