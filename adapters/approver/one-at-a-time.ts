import type { ApprovalRequest, ApprovalVerdict, Approver } from '../../ports/approval.ts';
import { CancelledError } from '../../ports/errors.ts';

/** Shows one request. `signal` also fires when the run is cancelled; the answer is then thrown away. */
export type Show = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalVerdict>;

/** An approver that shows one request at a time, in the order they came, and gives up at once when a run is cancelled. */
export function oneAtATime(show: Show): Approver {
  let last: Promise<unknown> = Promise.resolve();
  return {
    async decide(request, signal) {
      const before = last;
      const done = Promise.withResolvers<void>();
      last = before.then(() => done.promise);
      const shown = before.then(() => (signal.aborted ? Promise.reject(new CancelledError()) : show(request, signal)));
      shown.then(
        () => done.resolve(),
        () => done.resolve(),
      );
      return unlessAborted(shown, signal);
    },
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
