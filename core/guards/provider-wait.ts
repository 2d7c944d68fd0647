import type { Clock } from '../../ports/clock.ts';

export type NextOutcome<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'end' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'aborted' };

export interface WaitLimits {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** At most 0 times out at once; infinite sets no timer. */
  readonly timeoutMs: number;
}

/** The iterator's next value, or what came first. Rejects only with what the iterator rejected with. */
export function nextWithin<T>(iterator: AsyncIterator<T>, { clock, signal, timeoutMs }: WaitLimits): Promise<NextOutcome<T>> {
  if (signal.aborted) return Promise.resolve({ kind: 'aborted' });
  if (timeoutMs <= 0) return Promise.resolve({ kind: 'timeout' });
  return new Promise((resolve, reject) => {
    let stopTimer = (): void => undefined;
    const onAbort = (): void => settle({ kind: 'aborted' });
    const release = (): void => {
      stopTimer();
      signal.removeEventListener('abort', onAbort);
    };
    const settle = (outcome: NextOutcome<T>): void => {
      release();
      resolve(outcome);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    if (timeoutMs !== Number.POSITIVE_INFINITY) stopTimer = clock.after(timeoutMs, () => settle({ kind: 'timeout' }));
    iterator.next().then(
      (next) => settle(next.done === true ? { kind: 'end' } : { kind: 'value', value: next.value }),
      (error: unknown) => {
        release();
        reject(error);
      },
    );
  });
}
