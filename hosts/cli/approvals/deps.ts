import type { Answerer, ApprovalStore } from '../../../ports/approval-store.ts';

/** What `odek approvals` works with. Lines go out without their line end. */
export interface ApprovalsDeps {
  readonly approvals: ApprovalStore;
  /** Who answers. */
  readonly by: Answerer;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
  /** Milliseconds since the epoch. */
  now(): number;
  out(line: string): void;
}
