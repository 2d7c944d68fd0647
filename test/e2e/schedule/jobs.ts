import { join } from 'node:path';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { openStore, type Store } from '../../../adapters/store/index.ts';
import type { Delivery, Fire, ScheduleJob } from '../../../ports/schedule.ts';
import { job as plainJob } from '../../contracts/schedule-store.suite.ts';
import { until } from '../support/processes.ts';
import type { Stage } from '../support/stage.ts';

export const HOUR = 3_600_000;

let made = 0;

/** Once an hour, and not within the next half: no test meets the turn of an hour. */
export const LINE: string = `${(new Date().getUTCMinutes() + 30) % 60} * * * *`;

/** The database of a stage, opened beside the processes that use it. */
export async function inStore<Result>(stage: Pick<Stage, 'state'>, work: (store: Store) => Promise<Result>): Promise<Result> {
  const path = join(stage.state, 'odek.db');
  const store = await openStore({ path, surface: 'test', durability: 'process', clock: createSystemClock(), ids: createRandomIds() });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Stores a job that is due since a while, so that a scheduler which catches up runs it at its first look. */
export async function putDue(stage: Pick<Stage, 'state' | 'work'>, changes: Partial<ScheduleJob> = {}): Promise<ScheduleJob> {
  made += 1;
  const job = plainJob(`jb-${made.toString(16).padStart(8, '0')}`, {
    cron: LINE,
    catchUp: true,
    workspace: stage.work,
    createdAt: Date.now(),
    ...changes,
  });
  await inStore(stage, (store) => store.schedules.jobs.put(job, Date.now() - 3 * HOUR));
  return job;
}

export function firesOf(stage: Pick<Stage, 'state'>, jobId?: string): Promise<readonly Fire[]> {
  return inStore(stage, (store) => store.schedules.fires.find({ limit: 9_999, ...(jobId !== undefined && { jobId }) }));
}

export function deliveriesOf(stage: Pick<Stage, 'state'>): Promise<readonly Delivery[]> {
  return inStore(stage, (store) => store.schedules.outbox.list(9_999));
}

/** The one fire of a job that was not passed over. */
export async function runOf(stage: Pick<Stage, 'state'>, jobId: string): Promise<Fire | undefined> {
  return (await firesOf(stage, jobId)).find(({ state }) => state !== 'missed' && state !== 'skipped');
}

/** Waits until a job has a run in one of these states. */
export async function untilRun(stage: Pick<Stage, 'state'>, jobId: string, ...states: readonly Fire['state'][]): Promise<Fire> {
  let found: Fire | undefined;
  await until(`a run of ${jobId} that is ${states.join(' or ')}`, async () => {
    found = await runOf(stage, jobId);
    return found !== undefined && states.includes(found.state);
  });
  return found as Fire;
}
