import { type ApproverFaults, memorySeat } from '../fakes/approver.ts';
import type { ApproverHarness } from './approver.suite.ts';
import type { BrokenAdapter } from './suite.ts';

const FAULTS: readonly (readonly [name: string, caughtBy: string, faults: ApproverFaults])[] = [
  ['takes anything for a yes', 'explicit-yes', { anythingIsYes: true }],
  ['takes silence for a yes', 'silence', { silenceIsYes: true }],
  ['hands on trust that was not offered', 'trust', { trustsAlways: true }],
  ['answers "deny" when the run is cancelled', 'signal', { ignoresSignal: true }],
  ['shows everything at once', 'one-at-a-time', { showsAllAtOnce: true }],
];

/** Approvers that each break one sentence. */
export const brokenApprovers: readonly BrokenAdapter<ApproverHarness>[] = FAULTS.map(([name, caughtBy, faults]) => ({
  name,
  caughtBy: `approver/${caughtBy}`,
  harness: { seat: async () => memorySeat(faults) },
}));
