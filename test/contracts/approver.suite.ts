import assert from 'node:assert/strict';
import type { ApprovalRequest, ApprovalVerdict, Approver } from '../../ports/approval.ts';
import { hasCode } from '../../ports/errors.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

/** What a person may do; `nonsense` is anything that is no answer. */
export type PersonSays = 'yes' | 'trust' | 'no' | 'nonsense';

/** An approver and the person behind it. */
export interface ApproverSeat {
  readonly approver: Approver;
  /** The resources of the requests shown so far, in order. */
  shown(): readonly string[];
  /** Answers the request that is shown now. */
  say(word: PersonSays): void;
  /** Goes away: nothing will ever be said. */
  leave(): void;
  close(): Promise<void>;
}

export interface ApproverHarness {
  seat(): Promise<ApproverSeat>;
}

const never = new AbortController().signal;
const LONG_MS = 20_000;

export function approvalRequest(resource: string, changes: Partial<ApprovalRequest> = {}): ApprovalRequest {
  const item = { callId: 'c1', tool: 'shell', class: 'code_execution', resource, reason: 'a shell command can run any code' } as const;
  const facts = { class: item.class, allowTrust: true, friction: false, timeoutMs: LONG_MS };
  return { id: `request of ${resource}`, sessionId: 's1', items: [item], ...facts, ...changes };
}

async function untilShown(seat: ApproverSeat, count: number): Promise<void> {
  for (let wait = 0; wait < 500 && seat.shown().length < count; wait += 1) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(seat.shown().length, count, `${count} requests are shown`);
}

function seated(id: string, sentence: string, run: (seat: ApproverSeat) => Promise<void>): ContractCase<ApproverHarness> {
  return {
    id: `approver/${id}`,
    sentence,
    async run(harness) {
      const seat = await harness.seat();
      try {
        await run(seat);
      } finally {
        await seat.close();
      }
    },
  };
}

/** Shows a request, lets the person speak, and gives the verdict. */
async function answered(seat: ApproverSeat, request: ApprovalRequest, word: PersonSays, before: number): Promise<ApprovalVerdict> {
  const verdict = seat.approver.decide(request, never);
  await untilShown(seat, before + 1);
  seat.say(word);
  return verdict;
}

/** The contract of {@link Approver}. */
export const approverSuite: ContractSuite<ApproverHarness> = {
  port: 'Approver',
  cases: [
    seated('explicit-yes', '`decide` answers once per request; anything but an explicit yes is `deny` or `timeout`', async (seat) => {
      const yes = await answered(seat, approvalRequest('first'), 'yes', 0);
      const no = await answered(seat, approvalRequest('second'), 'no', 1);
      const nonsense = await answered(seat, approvalRequest('third'), 'nonsense', 2);
      assert.deepEqual([yes.decision, no.decision, nonsense.decision], ['approve', 'deny', 'deny']);
      assert.ok(yes.by.length > 0, 'the verdict names who answered');
    }),
    seated('silence', 'a person who does not answer in time has not said yes', async (seat) => {
      const late = await seat.approver.decide(approvalRequest('late', { timeoutMs: 50 }), never);
      assert.equal(late.decision, 'timeout');
      seat.leave();
      const gone = await seat.approver.decide(approvalRequest('gone', { timeoutMs: 50 }), never);
      assert.ok(gone.decision === 'deny' || gone.decision === 'timeout');
    }),
    seated('trust', '`trust` is answered only where `allowTrust` is true', async (seat) => {
      const trusted = await answered(seat, approvalRequest('trusted'), 'trust', 0);
      assert.equal(trusted.decision, 'trust');
      const forged = await answered(seat, approvalRequest('forged', { allowTrust: false, timeoutMs: 200 }), 'trust', 1);
      assert.notEqual(forged.decision, 'trust');
    }),
    seated('signal', 'when `signal` fires while waiting, it rejects with `CancelledError`', async (seat) => {
      const controller = new AbortController();
      const waiting = seat.approver.decide(approvalRequest('waiting'), controller.signal);
      const outcome = assert.rejects(waiting, (error) => hasCode(error, 'cancelled'));
      await untilShown(seat, 1);
      controller.abort();
      await outcome;
      await assert.rejects(seat.approver.decide(approvalRequest('late'), controller.signal), (error) => hasCode(error, 'cancelled'));
    }),
    seated('one-at-a-time', 'requests are shown one at a time, in the order they came', async (seat) => {
      const resources = ['one', 'two', 'three'];
      const verdicts = resources.map((resource) => seat.approver.decide(approvalRequest(resource), never));
      for (const [index, word] of (['yes', 'no', 'yes'] as const).entries()) {
        await untilShown(seat, index + 1);
        await new Promise((resolve) => setTimeout(resolve, 10));
        assert.deepEqual(seat.shown(), resources.slice(0, index + 1));
        seat.say(word);
      }
      assert.deepEqual(
        (await Promise.all(verdicts)).map(({ decision }) => decision),
        ['approve', 'deny', 'approve'],
      );
    }),
  ],
};
