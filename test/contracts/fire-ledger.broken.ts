import { type FireLedger, ScheduleError } from '../../ports/schedule.ts';
import { sqliteSchedules } from '../adapters/store/schedule-place.ts';
import type { ScheduleHarness } from './schedule-store.suite.ts';
import type { BrokenAdapter } from './suite.ts';

const broken = (name: string, caughtBy: string, fault: (fires: FireLedger) => Partial<FireLedger>): BrokenAdapter<ScheduleHarness> => ({
  name,
  caughtBy: `fire-ledger/${caughtBy}`,
  harness: sqliteSchedules((parts) => ({ ...parts, fires: { ...parts.fires, ...fault(parts.fires) } })),
});

/** Ledgers that each break one sentence. */
export const brokenFireLedgers: readonly BrokenAdapter<ScheduleHarness>[] = [
  broken('forgets what was missed', 'advance', (fires) => ({
    advance: (decision, lease) => fires.advance({ ...decision, closed: [] }, lease),
  })),
  broken('passes over a lost lease', 'lease', (fires) => ({
    advance: (decision, lease) => fires.advance(decision, lease).catch(() => undefined),
  })),
  broken('claims beside a run', 'claim', (fires) => ({
    claim: async (jobId, what) =>
      (await fires.claim(jobId, what)) ?? { jobId, dueAt: 'at' in what ? what.at : what.queued, manual: false, token: 'own' },
  })),
  broken('passes over a lost claim', 'lost', (fires) => ({ finish: (claim, end, now) => fires.finish(claim, end, now).catch(() => {}) })),
  broken('loses the deliveries', 'finish', (fires) => ({
    finish: (claim, end, now) => fires.finish(claim, { ...end, deliveries: [] }, now),
  })),
  broken('believes that every process lives', 'orphans', (fires) => ({
    find: async (query) => (await fires.find(query)).map((fire) => ({ ...fire, orphaned: false })),
  })),
  broken('gives a decision to both', 'once', (fires) => ({
    async advance(decision, lease) {
      const claim = await fires.advance(decision, lease);
      if (claim !== undefined || decision.claim === undefined) return claim;
      const [found] = await fires.find({ limit: 1 });
      if (found === undefined) throw new ScheduleError('job_not_found', 'no job');
      return { jobId: found.jobId, dueAt: found.dueAt, manual: false, token: 'own' };
    },
  })),
];
