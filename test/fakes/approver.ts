import type { ApprovalRequest, ApprovalVerdict } from '../../ports/approval.ts';
import { CancelledError } from '../../ports/errors.ts';
import type { ApproverSeat, PersonSays } from '../contracts/approver.suite.ts';

/** Ways to break one sentence; none: the seat keeps the contract. */
export interface ApproverFaults {
  readonly anythingIsYes?: boolean;
  readonly silenceIsYes?: boolean;
  readonly trustsAlways?: boolean;
  readonly ignoresSignal?: boolean;
  readonly showsAllAtOnce?: boolean;
}

interface Waiting {
  readonly request: ApprovalRequest;
  readonly answer: (verdict: ApprovalVerdict) => void;
}

/** An approver and its person in memory, with or without a fault. */
export function memorySeat(faults: ApproverFaults = {}): ApproverSeat {
  const shown: string[] = [];
  const waiting: Waiting[] = [];
  const timers = new Set<NodeJS.Timeout>();

  const showNext = () => {
    for (const { request, answer } of faults.showsAllAtOnce ? waiting : waiting.slice(0, 1)) {
      const resource = request.items[0].resource;
      if (shown.includes(resource)) continue;
      shown.push(resource);
      timers.add(setTimeout(() => answer({ decision: faults.silenceIsYes ? 'approve' : 'timeout', by: 'clock' }), request.timeoutMs));
    }
  };
  const decisionFor = (word: PersonSays, request: ApprovalRequest): ApprovalVerdict['decision'] => {
    if (word === 'trust') return request.allowTrust || faults.trustsAlways ? 'trust' : 'deny';
    if (word === 'nonsense') return faults.anythingIsYes ? 'approve' : 'deny';
    return word === 'yes' ? 'approve' : 'deny';
  };

  return {
    approver: {
      decide(request, signal) {
        return new Promise((resolve, reject) => {
          const done = () => {
            const index = waiting.indexOf(entry);
            if (index >= 0) waiting.splice(index, 1);
            showNext();
          };
          const entry: Waiting = {
            request,
            answer(verdict) {
              resolve(verdict);
              done();
            },
          };
          const cancel = () => {
            if (faults.ignoresSignal) return entry.answer({ decision: 'deny', by: 'signal' });
            reject(new CancelledError());
            done();
          };
          if (signal.aborted) return cancel();
          signal.addEventListener('abort', cancel, { once: true });
          waiting.push(entry);
          showNext();
        });
      },
    },
    shown: () => shown,
    say(word) {
      const first = waiting[0];
      first?.answer({ decision: decisionFor(word, first.request), by: 'memory' });
    },
    leave: () => {},
    async close() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}
