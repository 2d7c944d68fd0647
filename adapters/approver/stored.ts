import type { ApprovalItem, ApprovalRequest, ApprovalVerdict, Approver } from '../../ports/approval.ts';
import { type ApprovalAudience, type ApprovalEnd, type ApprovalStore, answererText } from '../../ports/approval-store.ts';
import { inTurn } from './one-at-a-time.ts';

/** A store that is open while a request waits in it. */
export interface OpenApprovals {
  readonly approvals: ApprovalStore;
  close(): Promise<void>;
}

export interface StoredApproverOptions {
  /** Called for each request. */
  open(): Promise<OpenApprovals>;
  /** Who may answer. Absent: whoever can open the store. */
  readonly audience?: ApprovalAudience;
  /** What is stored may outlive the run: secrets are taken out first. */
  redact(text: string): string;
  /** A request waits now. */
  onWaiting?(request: ApprovalRequest): void;
}

/** In place of a name: the time was over. */
const NOBODY = 'nobody';

/**
 * Asks through a store, from which any process may answer, and waits up to the time limit of the
 * request. A request whose run is cancelled, or that fails to be waited for, is withdrawn.
 */
export function createStoredApprover({ open, audience, redact, onWaiting }: StoredApproverOptions): Approver {
  const ask = async (request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalVerdict> => {
    const { approvals, close } = await open();
    try {
      const shown = redacted(request, redact);
      await approvals.ask(shown, audience);
      try {
        onWaiting?.(shown);
        return verdictOf(await approvals.wait(request.id, signal));
      } finally {
        // After an answer this changes nothing.
        await approvals.withdraw(request.id);
      }
    } finally {
      await close();
    }
  };
  return { decide: inTurn(ask) };
}

function verdictOf(end: ApprovalEnd): ApprovalVerdict {
  return end.decision === 'timeout' ? { decision: 'timeout', by: NOBODY } : { decision: end.decision, by: answererText(end.by) };
}

function redacted(request: ApprovalRequest, redact: (text: string) => string): ApprovalRequest {
  const hidden = (item: ApprovalItem): ApprovalItem => ({ ...item, resource: redact(item.resource), reason: redact(item.reason) });
  const [first, ...more] = request.items;
  return { ...request, items: [hidden(first), ...more.map(hidden)] };
}
