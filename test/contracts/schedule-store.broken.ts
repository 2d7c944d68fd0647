import type { ScheduleStore } from '../../ports/schedule.ts';
import { sqliteSchedules } from '../adapters/store/schedule-place.ts';
import { NOON, type ScheduleHarness } from './schedule-store.suite.ts';
import type { BrokenAdapter } from './suite.ts';

const broken = (
  name: string,
  caughtBy: string,
  fault: (jobs: ScheduleStore) => Partial<ScheduleStore>,
): BrokenAdapter<ScheduleHarness> => ({
  name,
  caughtBy: `schedule-store/${caughtBy}`,
  harness: sqliteSchedules((parts) => ({ ...parts, jobs: { ...parts.jobs, ...fault(parts.jobs) } })),
});

/** Schedule stores that each break one sentence. */
export const brokenScheduleStores: readonly BrokenAdapter<ScheduleHarness>[] = [
  broken('lists in order of age', 'stored', (jobs) => ({
    list: async () => [...(await jobs.list())].sort((a, b) => (a.job.id < b.job.id ? -1 : 1)),
  })),
  broken('gives a taken name to another', 'names', (jobs) => ({
    put: (job, now) => jobs.put(job, now).catch(() => jobs.put({ ...job, name: `${job.name} 2` }, now)),
  })),
  broken('leaves the cursor when the line changes', 'cursor', (jobs) => ({ put: (job) => jobs.put(job, NOON) })),
  broken('drops the job that is one too many', 'bound', (jobs) => ({
    put: async (job, now) => {
      const stored = await jobs.list();
      return stored.length < 1_000 || stored.some((each) => each.job.id === job.id)
        ? jobs.put(job, now)
        : { job, revision: 1, cursor: now, runs: 0 };
    },
  })),
  broken('says that it removed what was not there', 'removed', (jobs) => ({ remove: async (id) => (await jobs.remove(id)) || true })),
  broken('prunes what is newer', 'pruned', (jobs) => ({ prune: (before) => jobs.prune(before + 86_400_000) })),
];
