import type { SchedulerLeases } from '../../ports/schedule.ts';
import { sqliteSchedules } from '../adapters/store/schedule-place.ts';
import type { ScheduleHarness } from './schedule-store.suite.ts';
import type { BrokenAdapter } from './suite.ts';

const broken = (
  name: string,
  caughtBy: string,
  fault: (leases: SchedulerLeases) => Partial<SchedulerLeases>,
): BrokenAdapter<ScheduleHarness> => ({
  name,
  caughtBy: `scheduler-leases/${caughtBy}`,
  harness: sqliteSchedules((parts) => ({ ...parts, leases: { ...parts.leases, ...fault(parts.leases) } })),
});

/** Leases that each break one sentence. */
export const brokenSchedulerLeases: readonly BrokenAdapter<ScheduleHarness>[] = [
  broken('gives the lease to everybody', 'one', (leases) => ({
    acquire: async (surface) => {
      const got = await leases.acquire(surface);
      return 'token' in got ? got : { fence: 1, token: 'own' };
    },
  })),
  broken('keeps the fence', 'dead', (leases) => ({
    acquire: async (surface) => {
      const got = await leases.acquire(surface);
      return 'token' in got ? { ...got, fence: 1 } : got;
    },
  })),
  broken('forgets who was there', 'seen', (leases) => ({
    acquire: async (surface) => {
      const got = await leases.acquire(surface);
      return 'token' in got ? { fence: got.fence, token: got.token } : got;
    },
  })),
  broken('never beats', 'silent', () => ({ beat: async () => {} })),
  broken('beats whatever happened', 'lost', (leases) => ({ beat: (lease) => leases.beat(lease).catch(() => {}) })),
  broken('does not release', 'released', () => ({ release: async () => {} })),
];
