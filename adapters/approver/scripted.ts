import type { ApprovalDecision, ApprovalRequest, ApprovalVerdict, Approver } from '../../ports/approval.ts';
import { oneAtATime } from './one-at-a-time.ts';

export interface ScriptedApproverOptions {
  /** Given in this order, one a request. */
  readonly answers?: readonly ApprovalDecision[];
  /** What a request meets when no answer is left: a denial, or a wait for `push` up to the request's time limit. Default: `deny`. */
  readonly whenEmpty?: 'deny' | 'wait';
}

/** An approver for demonstrations and tests. */
export interface ScriptedApprover extends Approver {
  /** Everything that was shown, in order. */
  readonly requests: readonly ApprovalRequest[];
  /** Adds an answer. */
  push(answer: ApprovalDecision): void;
}

const BY = 'script';

/** Answers from a queue. `trust` where it is not allowed is a denial. */
export function createScriptedApprover({ answers = [], whenEmpty = 'deny' }: ScriptedApproverOptions = {}): ScriptedApprover {
  const queue = [...answers];
  const requests: ApprovalRequest[] = [];
  let arrived: (() => void) | undefined;

  const nextAnswer = async (request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> => {
    if (queue.length === 0 && whenEmpty === 'wait') await waitForAnswer(request.timeoutMs, signal);
    return queue.shift() ?? (whenEmpty === 'wait' ? 'timeout' : 'deny');
  };
  const waitForAnswer = (ms: number, signal: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    arrived = resolve;
    signal.addEventListener('abort', () => resolve(), { once: true });
    return promise.finally(() => {
      clearTimeout(timer);
      arrived = undefined;
    });
  };

  const { decide } = oneAtATime(async (request, signal): Promise<ApprovalVerdict> => {
    requests.push(request);
    const decision = await nextAnswer(request, signal);
    return { decision: decision === 'trust' && !request.allowTrust ? 'deny' : decision, by: BY };
  });
  return {
    decide,
    requests,
    push(answer) {
      queue.push(answer);
      arrived?.();
    },
  };
}
