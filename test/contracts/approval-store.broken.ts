import { type ApprovalFaults, createMemoryApprovals } from '../fakes/approval-store.ts';
import type { ApprovalStoreHarness } from './approval-store.suite.ts';
import type { BrokenAdapter } from './suite.ts';

/** The store in memory, as a subject of the suite. */
export function memoryApprovals(faults: ApprovalFaults = {}): ApprovalStoreHarness {
  return {
    async place() {
      let offset = 0;
      const { store, orphan } = createMemoryApprovals(() => Date.now() + offset, faults);
      return {
        open: async () => store,
        askAndDie: async (request) => {
          await store.ask(request);
          orphan(request.id);
        },
        advance: (ms) => {
          offset += ms;
        },
        close: async () => {},
      };
    },
  };
}

const FAULTS: readonly (readonly [name: string, caughtBy: string, faults: ApprovalFaults])[] = [
  ['lists the newest first', 'pending', { newestFirst: true }],
  ['takes every answer', 'first-answer', { lastAnswerCounts: true }],
  ['does not say who was first', 'second-answer', { forgetsFirst: true }],
  ['waits for ever', 'time', { neverExpires: true }],
  ['keeps what a dead process asked', 'dead-asker', { keepsOrphans: true }],
  ['takes an answer back', 'withdraw', { withdrawsAnswers: true }],
  ['lets anybody answer', 'audience', { anybodyAnswers: true }],
  ['takes trust that was not offered', 'trust', { trustsAlways: true }],
  ['takes an answer to nothing', 'not-found', { inventsRequests: true }],
  ['takes in whatever comes', 'limits', { boundless: true }],
  ['withdraws when nobody wants to wait', 'signal', { withdrawsOnAbort: true }],
];

/** Stores that each break one sentence. */
export const brokenApprovalStores: readonly BrokenAdapter<ApprovalStoreHarness>[] = FAULTS.map(([name, caughtBy, faults]) => ({
  name,
  caughtBy: `approval-store/${caughtBy}`,
  harness: memoryApprovals(faults),
}));
