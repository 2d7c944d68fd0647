import assert from 'node:assert/strict';
import { hasCode } from '../../ports/errors.ts';
import type {
  DeliveryOutbox,
  FireClaim,
  FireLedger,
  ScheduleJob,
  SchedulerLease,
  SchedulerLeases,
  ScheduleStore,
} from '../../ports/schedule.ts';
import type { ContractSuite } from './suite.ts';

/** The scheduler's ports as one process has them. */
export interface ScheduleParts {
  readonly jobs: ScheduleStore;
  readonly fires: FireLedger;
  readonly leases: SchedulerLeases;
  readonly outbox: DeliveryOutbox;
}

/** An empty store that three processes share. */
export interface SchedulePlace {
  readonly here: ScheduleParts;
  /** Another live process. */
  readonly there: ScheduleParts;
  /** A process that is gone by the time anybody else looks. */
  readonly dead: ScheduleParts;
  /** Sets what the clock says. */
  at(now: number): void;
  close(): Promise<void>;
}

export interface ScheduleHarness {
  place(): Promise<SchedulePlace>;
}

/** Where the clock of a place stands at first. */
export const NOON: number = Date.UTC(2026, 2, 10, 12);
export const MINUTE = 60_000;

export function job(id: string, changes: Partial<ScheduleJob> = {}): ScheduleJob {
  return {
    id,
    name: id,
    cron: '0 * * * *',
    timezone: 'UTC',
    task: 'look after it',
    deliver: { kind: 'stdout' },
    enabled: true,
    catchUp: false,
    overlap: 'skip',
    session: 'fresh',
    workspace: '/srv/work',
    limits: {},
    dailyTokens: 0,
    timeoutMs: 15 * MINUTE,
    createdAt: NOON,
    ...changes,
  };
}

export async function inPlace(harness: ScheduleHarness, work: (place: SchedulePlace) => Promise<void>): Promise<void> {
  const place = await harness.place();
  place.at(NOON);
  try {
    await work(place);
  } finally {
    await place.close();
  }
}

export async function lease(parts: ScheduleParts): Promise<SchedulerLease> {
  const got = await parts.leases.acquire('schedule');
  assert.ok('token' in got, 'the lease was not given');
  return got;
}

/** Stores a job and claims an instant of it. */
export async function claimed(parts: ScheduleParts, id = 'jb-00000001', changes: Partial<ScheduleJob> = {}): Promise<FireClaim> {
  const { job: stored } = await parts.jobs.put(job(id, changes), NOON);
  const claim = await parts.fires.claim(stored.id, { at: NOON });
  assert.ok(claim, 'the fire was not claimed');
  return claim;
}

export const refused = (work: Promise<unknown>, code: string): Promise<void> => assert.rejects(work, (error) => hasCode(error, code));

/** The contract of {@link ScheduleStore}. */
export const scheduleStoreSuite: ContractSuite<ScheduleHarness> = {
  port: 'ScheduleStore',
  cases: [
    {
      id: 'schedule-store/stored',
      sentence: 'what `put` stored is there for every process: `list` gives all in name order, `get` one by id or name',
      run: (harness) =>
        inPlace(harness, async ({ here, there }) => {
          await here.jobs.put(
            job('jb-00000001', { name: 'weekly', deliver: { kind: 'file', path: '/srv/out' }, limits: { max_tool_calls: 3 } }),
            NOON,
          );
          await here.jobs.put(job('jb-00000002', { name: 'daily' }), NOON);
          assert.deepEqual(
            (await there.jobs.list()).map((each) => each.job.name),
            ['daily', 'weekly'],
          );
          const found = await there.jobs.get('jb-00000001');
          assert.deepEqual(
            found?.job,
            job('jb-00000001', { name: 'weekly', deliver: { kind: 'file', path: '/srv/out' }, limits: { max_tool_calls: 3 } }),
          );
          assert.equal((await there.jobs.get('daily'))?.job.id, 'jb-00000002');
          assert.equal(await there.jobs.get('none'), undefined);
        }),
    },
    {
      id: 'schedule-store/names',
      sentence: 'a name belongs to one job: `put` of another refuses it with `job_name_taken`',
      run: (harness) =>
        inPlace(harness, async ({ here, there }) => {
          await here.jobs.put(job('jb-00000001', { name: 'daily' }), NOON);
          await refused(there.jobs.put(job('jb-00000002', { name: 'daily' }), NOON), 'job_name_taken');
          await here.jobs.put(job('jb-00000001', { name: 'daily', task: 'another' }), NOON);
          assert.deepEqual(
            (await here.jobs.list()).map((each) => each.job.task),
            ['another'],
          );
        }),
    },
    {
      id: 'schedule-store/cursor',
      sentence:
        'a new job begins at `now`; a change of line or zone, or turning it on again, moves its cursor to `now`; any other change leaves it',
      run: (harness) =>
        inPlace(harness, async ({ here }) => {
          const cursors: number[] = [];
          const put = async (changes: Partial<ScheduleJob>, minute: number) => {
            cursors.push((await here.jobs.put(job('jb-00000001', changes), NOON + minute * MINUTE)).cursor - NOON);
          };
          await put({}, 1);
          await put({ task: 'another' }, 2);
          await put({ task: 'another', cron: '5 * * * *' }, 3);
          await put({ cron: '5 * * * *', timezone: 'Europe/Berlin' }, 4);
          await put({ cron: '5 * * * *', timezone: 'Europe/Berlin', enabled: false }, 5);
          await put({ cron: '5 * * * *', timezone: 'Europe/Berlin', enabled: true }, 6);
          assert.deepEqual(
            cursors,
            [1, 1, 3, 4, 4, 6].map((minute) => minute * MINUTE),
          );
          assert.equal((await here.jobs.get('jb-00000001'))?.revision, 6);
        }),
    },
    {
      id: 'schedule-store/bound',
      sentence: 'at most 1,000 jobs: one more is refused with `too_many_schedules`',
      run: (harness) =>
        inPlace(harness, async ({ here }) => {
          for (let n = 0; n < 1_000; n += 1) await here.jobs.put(job(`jb-${String(n).padStart(8, '0')}`), NOON);
          await refused(here.jobs.put(job('jb-ffffffff'), NOON), 'too_many_schedules');
          await here.jobs.put(job('jb-00000007', { task: 'another' }), NOON);
          assert.equal((await here.jobs.list()).length, 1_000);
        }),
    },
    {
      id: 'schedule-store/removed',
      sentence: '`remove` takes the job and leaves its fires; false: there was none',
      run: (harness) =>
        inPlace(harness, async ({ here }) => {
          const claim = await claimed(here);
          await here.fires.finish(claim, { state: 'ran', outcome: 'answer', deliveries: [] }, NOON);
          assert.equal(await here.jobs.remove(claim.jobId), true);
          assert.equal(await here.jobs.remove(claim.jobId), false);
          assert.equal((await here.fires.find({ jobId: claim.jobId, limit: 9 })).length, 1);
        }),
    },
    {
      id: 'schedule-store/pruned',
      sentence:
        '`prune` removes final fires and settled deliveries that ended before an instant, but never the newest fire of a job that is there',
      run: (harness) =>
        inPlace(harness, async ({ here }) => {
          const { job: stored } = await here.jobs.put(job('jb-00000001'), NOON);
          for (const minute of [1, 2, 3]) {
            const claim = await here.fires.claim(stored.id, { at: NOON + minute * MINUTE });
            assert.ok(claim);
            const deliveries = minute === 1 ? [{ target: { kind: 'log' } as const, text: 'done' }] : [];
            await here.fires.finish(claim, { state: 'ran', deliveries }, NOON + minute * MINUTE);
          }
          const sent = await here.outbox.take(['log'], NOON + 5 * MINUTE);
          assert.ok(sent);
          await here.outbox.settle(sent, { state: 'sent' }, NOON + 5 * MINUTE);
          assert.equal(await here.jobs.prune(NOON + 2 * MINUTE), 1);
          assert.equal(await here.jobs.prune(NOON + 60 * MINUTE), 2);
          assert.deepEqual(
            (await here.fires.find({ limit: 9 })).map((each) => each.dueAt),
            [NOON + 3 * MINUTE],
          );
          assert.deepEqual(await here.outbox.list(9), []);
        }),
    },
  ],
};
