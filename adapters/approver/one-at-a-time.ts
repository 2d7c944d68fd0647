import type { ApprovalRequest, ApprovalVerdict, Approver } from '../../ports/approval.ts';
import { CancelledError } from '../../ports/errors.ts';

/** Shows one request. `signal` also fires when the run is cancelled; the answer is then thrown away. */
export type Show = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalVerdict>;

/** An approver that shows one request at a time, in the order they came, and gives up at once when a run is cancelled. */
export function oneAtATime(show: Show): Approver {
  return { decide: inTurn(show) };
}

/** `work`, done for one request after the other. Rejects with `CancelledError` as soon as the signal fires. */
export function inTurn<Request, Answer>(
  work: (request: Request, signal: AbortSignal) => Promise<Answer>,
): (request: Request, signal: AbortSignal) => Promise<Answer> {
  let last: Promise<unknown> = Promise.resolve();
  return async (request, signal) => {
    const before = last;
    const done = Promise.withResolvers<void>();
    last = before.then(() => done.promise);
    const answered = before.then(() => (signal.aborted ? Promise.reject(new CancelledError()) : work(request, signal)));
    answered.then(
      () => done.resolve(),
      () => done.resolve(),
    );
    return unlessAborted(answered, signal);
  };
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(new CancelledError());
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
